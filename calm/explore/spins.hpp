// spins.hpp — notices threads that read the same again and again: they wait, and can go on when it is written.
// Laws:    LAB-5 (so that a program that spins has an end), LAB-6
// Threads: one
// Cancel:  not applicable
//
// A thread that repeats its reads, writes nothing, and reads what the same writers left, is in the same state each time round,
// or so it seems: it may count rounds. After `patience` such reads it is taken to wait for a write to one of the places it
// reads. If nobody is left who could write them, the one who asks may let it go on and see whether it really repeats itself.
//
// Who waits, and for what, follows from the steps of the process and what they read, never from the order of steps that
// commute: the step after a wait touches all that was waited for, also when the write was there before the wait.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"

namespace calm::explore {

class Spins {
 public:
  static constexpr std::uint32_t usual_patience = 32;

  /// Everybody is at the beginning.
  void restart() noexcept;
  /// How many reads, from 16 on, a thread must repeat to be taken to wait.
  void be_patient(std::uint32_t reads) noexcept { patience_ = reads; }

  /// The process took this step.
  void stepped(Process process, const Footprint& touched) {
    for (std::uint32_t i = 0; i < touched.size(); ++i) {
      if (!touched[i].is_write()) continue;
      quiet_[process] = 0;
      if (!looked_at_.empty()) wrote(process, touched);
      return;
    }
    if (++quiet_[process] > patience_ / 4) look_at(process, touched);
  }

  /// Gives: those who are taken to wait.
  [[nodiscard]] ProcessSet waiting() const noexcept { return waiting_; }
  /// Gives: true when the next step of the process has waited: what it waited for belongs to what it touches.
  [[nodiscard]] bool has_waited(Process process) const noexcept { return stopped_.has(process); }
  /// Gives: the steps that it repeats, from the next one on. Needs: it waits or has waited.
  [[nodiscard]] const Footprint& repeated(Process process, std::size_t i) const noexcept {
    return reads_[process][i % reads_[process].size()].touched;
  }
  /// Adds what it waits or has waited for.
  void add_awaited(Process process, Footprint& touched) const;
  /// The step that has waited is being taken.
  void go_on(Process process) noexcept;

 private:
  struct Read {
    Footprint touched;
    std::uint64_t writes = 0;  // to what it touched, before it

    friend bool operator==(const Read& a, const Read& b) { return a.writes == b.writes && a.touched == b.touched; }
  };
  struct Counter {
    Location location = 0;
    std::uint64_t writes = 0;  // since somebody who is looked at read it first
  };

  void wrote(Process process, const Footprint& touched) noexcept;
  void look_at(Process process, const Footprint& touched);
  void forget(Process process) noexcept;
  [[nodiscard]] Counter* counter_of(Location location) noexcept;
  [[nodiscard]] std::uint64_t writes_to(const Footprint& touched);
  [[nodiscard]] bool is_as_read(Process process);

  std::uint32_t patience_ = usual_patience;
  std::array<std::uint32_t, process_max>
      quiet_{};  // steps since its last write, or since it began to be looked at anew
  std::array<std::vector<Read>, process_max> reads_{};
  std::vector<Counter> counters_;
  ProcessSet looked_at_;  // has reads
  ProcessSet waiting_;
  ProcessSet stopped_;  // waits, or has waited and took no step since
};

}  // namespace calm::explore
