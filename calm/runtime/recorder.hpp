// recorder.hpp — writes down what a run does, in the one order in which its workers do it.
// Laws:    SCH-9
// Threads: take_turn() by workers; the rest by who has the turn, make() and finish() before and after the workers
// Cancel:  not applicable
//
// Whatever calls the kernel does so in a turn: a poll, timers that go off, errands. So the order of the lines is the order of
// the effects, and a lab that does the same things in that order comes to the same states.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "calm/cx/blocking.hpp"
#include "calm/kernel/worker.hpp"
#include "calm/lockfree/passed_lock.hpp"
#include "calm/model/outcome.hpp"
#include "calm/runtime/options.hpp"
#include "calm/sched/recorded_run.hpp"

namespace calm::runtime {

class Recorder {
 public:
  /// Needs: options that ask for a recording, with the seed of the run. Fails: io when the file cannot be written;
  ///        invalid_argument for the name of the program.
  static Outcome<std::unique_ptr<Recorder>> make(const RunOptions& options, std::uint16_t workers, bool several);
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  ~Recorder();

  /// From its beginning to its end no other worker has one.
  class [[nodiscard("a turn lasts as long as this lives")]] Turn {
   public:
    explicit Turn(Recorder& recorder) : recorder_(recorder) { recorder_.turns_.lock(std::this_thread::get_id()); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { recorder_.turns_.unlock(); }

   private:
    Recorder& recorder_;
  };
  [[nodiscard]] Turn take_turn() { return Turn(*this); }

  /// A step of the worker, at its time; `path()` gives the name of the task, and is asked once for each task.
  template <class Path>
  void step(sched::StepKind kind, const kernel::Worker& worker, TaskId task, const Path& path) noexcept {
    write([&] { text_.step(kind, worker.index(), worker.now(), number_of(task, path)); });
  }
  void step(sched::StepKind kind, const kernel::Worker& worker) noexcept {
    write([&] { text_.step(kind, worker.index(), worker.now(), 0); });
  }
  /// In the poll that was begun last.
  void input(sched::InputKind kind, std::uint64_t value) noexcept {
    write([&] { text_.input(kind, value); });
  }
  /// The step before was the end of a call that blocks, which returned this.
  void result(const cx::BlockingJob& job) noexcept {
    write([&] {
      std::string bytes;
      if (job.copy_result(bytes)) text_.result(bytes);
    });
  }
  void ended(TaskId task) noexcept {
    write([&] {
      text_.ended();
      numbers_.erase(task.bits());
    });
  }

  /// The run is over, and ended like this.
  void finish(OutcomeKind end) noexcept;

 private:
  class FileSink;  // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final, and never deleted as its base

  Recorder(std::unique_ptr<FileSink> file, RecordSink& sink, bool at_once) noexcept;

  template <class Path>
  std::uint32_t number_of(TaskId task, const Path& path) {
    const auto [at, is_new] = numbers_.try_emplace(task.bits(), tasks_);
    if (is_new) {
      text_.task(path());
      ++tasks_;
    }
    return at->second;
  }
  template <class F>
  void write(const F& add) noexcept {
    if (broken_) return;
    try {
      add();
      if (at_once_ || text_.size() >= piece_bytes) pass_on();
    } catch (...) {
      give_up("there is no memory for it");
    }
  }
  void pass_on();
  void give_up(std::string_view why) noexcept;

  static constexpr std::size_t piece_bytes = std::size_t{1} << 16;
  static constexpr std::uint32_t turns_in_a_row = 64;

  std::unique_ptr<FileSink> file_;
  RecordSink& sink_;
  const bool at_once_;

  /// A turn is a whole poll: who waits for it sleeps, and nobody waits for ever.
  lockfree::PassedLock<std::thread::id, turns_in_a_row, lockfree::RealAtomics, std::mutex> turns_;
  // In a turn:
  sched::RunText text_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // of tasks that have not ended, by their ids
  std::uint32_t tasks_ = 0;
  bool broken_ = false;
};

}  // namespace calm::runtime
