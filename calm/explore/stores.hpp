// stores.hpp — memory that remembers: every store to a word, and what each thread must have seen of them.
// Laws:    LAB-8 (release/acquire reads-from choices)
// Threads: one
// Cancel:  not applicable
//
// After the view-based account of release/acquire by Kang, Hur, Lahav, Vafeiadis and Dreyer, without promises:
//   The stores of a word stand in the order in which they are made. A thread has a view: for every word the oldest store
//   it may still read, and for every thread how far it has heard of it.
//   A load reads any store that is not older than the view. An acquire joins the view that came with the store.
//   A release store carries the view of its thread, a relaxed one nothing. A read-modify-write reads the newest store, and
//   carries on what came with it (a release sequence).
//   A seq_cst load reads nothing older than what a seq_cst access of this word, earlier in the run, has stored or read.
// What is not covered, because a load reads only from stores that were made before it, and each store is the newest of its
// word when it is made: load buffering (both loads read the other thread's later store), and the order of stores that two
// threads make to the same words the other way round (2+2W). Fences are not offered.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"

namespace calm::explore {

/// How many events of each process are known of.
class Known {
 public:
  [[nodiscard]] std::uint32_t operator[](Process process) const noexcept {
    return process < counts_.size() ? counts_[process] : 0;
  }
  void set(Process process, std::uint32_t count) {
    if (process >= counts_.size()) counts_.resize(std::size_t{process} + 1);
    counts_[process] = count;
  }
  void join(const Known& other);

 private:
  std::vector<std::uint32_t> counts_;
};

class Stores {
 public:
  using History = std::uint32_t;  ///< the stores of one word; 0 is none
  using Stamp = std::uint32_t;    ///< the place of a store among those of its word

  /// Forgets everything.
  void restart() noexcept;

  /// Gives: the stores of a word that is new to the threads, and has this value for all of them.
  [[nodiscard]] History add(std::uint64_t bits);

  [[nodiscard]] std::uint64_t bits(History history, Stamp stamp) const {
    return words_[history - 1].stores[stamp].bits;
  }
  [[nodiscard]] Stamp newest(History history) const {
    return static_cast<Stamp>(words_[history - 1].stores.size() - 1);
  }

  /// The stores that a load of this process may read from, the newest first. Left out is a store that it could read by
  /// going earlier: one whose successor does not happen before what the process did last, nor before what the load meets
  /// in other places (`elsewhere`).
  void readable(Process process, History history, std::memory_order order, const Footprint& elsewhere,
                std::vector<Stamp>& stamps) const;

  void load(Process process, History history, Stamp stamp, std::memory_order order);
  void store(Process process, History history, std::uint64_t bits, std::memory_order order);
  /// A read-modify-write that leaves these bits.
  void update(Process process, History history, std::uint64_t bits, std::memory_order order);
  /// Gives: true when a seq_cst load of this word can make others of its kind see more.
  [[nodiscard]] bool raises(History history) const { return newest(history) > words_[history - 1].agreed; }

  /// The oldest store of the word that this process may read.
  [[nodiscard]] Stamp oldest(Process process, History history) const;
  void set_oldest(Process process, History history, Stamp stamp);

  /// What a lock does to the view of who takes it, and of who lets it go.
  void acquire(Process process, Location location);
  void release(Process process, Location location);

  /// The process has made this step.
  void end_step(Process process, const Footprint& touched);

  /// A moment of a process: after its access of this number.
  struct Moment {
    Process process = process_max;
    std::uint32_t count = 0;
  };
  [[nodiscard]] Moment now(Process process) const;
  /// Gives: true when what was done at that moment happens before what the process does now.
  [[nodiscard]] bool is_known(Process process, Moment moment) const;

 private:
  struct View {
    std::vector<Stamp> oldest;  // by history; none is 0
    Known known;
    void join(const View& other);
  };
  struct Store {
    std::uint64_t bits = 0;
    View carried;
    Moment made;  // by steps, which order conflicting accesses too
  };
  struct OneWord {
    std::vector<Store> stores;
    Stamp agreed = 0;  // the newest store that a seq_cst access has made or read
  };
  struct Steps {
    Known written;
    Known touched;
  };

  View& begin(Process process);
  [[nodiscard]] Known known_before(Process process, const Footprint& touched) const;

  std::vector<OneWord> words_;
  std::array<View, process_max> views_;
  std::array<Known, process_max> steps_;  // what happens before in the order of conflicting steps
  std::unordered_map<Location, Steps> touched_;
  std::unordered_map<Location, View> locks_;
};

}  // namespace calm::explore
