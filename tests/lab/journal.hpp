// journal.hpp — what a running program notes, and simple laws checked from the notes alone, beside the lab's oracles.
// Laws:    I1, I2, TSK-5, CTX-4, CAN-7, BUD-3, OBL-3, OUT-4, OUT-5, REG-8
// Threads: one in the lab; on threads every task may write of itself, and what is shared is counted or locked
// Cancel:  a wait that was cancelled once is cancelled again (CAN-7)
//
// What only one task writes stays plain on threads too: a runtime that lets two of them at it, or lets a scope return too
// early, is then seen by ThreadSanitizer.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "calm/mem/allocation_points.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/time.hpp"
#include "program.hpp"

namespace calm::programs {

/// Where a program runs.
enum class Host : std::uint8_t { lab, threads };

/// A number that several tasks change. relaxed: who reads it is told by the runtime when that has an end.
class Tally {
 public:
  void add(std::uint64_t count = 1) noexcept { count_.fetch_add(count, std::memory_order_relaxed); }
  void drop() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_{0};
};

/// A scope, or a bracket, or the program itself.
struct ScopeNote {
  std::uint32_t number = 0;
  const ScopeNote* outer = nullptr;  ///< the scope that the task which opened this one is in
  std::uint32_t task_limit = UINT32_MAX;
  Tally live_tasks{};                     ///< whose callables there are
  Tally live_finalizers{};                ///< the same, started or not
  std::vector<std::uint32_t> deferred{};  ///< registered and not started, oldest first
  std::uint32_t resources = 0;            ///< acquired and not released
  bool opened = false;                    ///< its body has begun
  bool body_live = false;
  bool finalizing = false;  ///< one has started
  bool returned = false;
  Tally panicked{};  ///< children that did, and the body
  Tally failed{};    ///< children that ended with Err, and the body; or nobody looked how
};

/// A task or a finalizer.
struct TaskNote {
  std::uint32_t number = 0;
  ScopeNote* home = nullptr;  ///< the scope it is in
  bool finalizer = false;
  bool callable_gone = false;
  std::uint32_t masks = 0;
  std::uint32_t masked_yields = 0;
  Deadline deadline{};                  ///< of its own budget
  std::vector<std::uint32_t> frames{};  ///< alive, outermost first
  bool end_known = false;
  OutcomeKind end = OutcomeKind::ok;  ///< its natural one
  std::vector<std::uint64_t> log{};   ///< what it has done, on threads
};

/// The journal's own memory never fails: what is tested is the program's.
using OwnMemory = mem::AllocationPoints::Pause;

class Journal {
 public:
  /// Of a run in which an allocation may fail, or not.
  explicit Journal(bool memory_fails = false, Host host = Host::lab) noexcept
      : memory_fails_(memory_fails), threads_(host == Host::threads) {}
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  /// Gives: whether this is a lawful answer to who wants to start something.
  [[nodiscard]] bool may_refuse(Errc code) const noexcept {
    return code == Errc::region_not_open || code == Errc::admission_limit ||
           (code == Errc::resource_exhausted && memory_fails_);
  }

  [[nodiscard]] bool on_threads() const noexcept { return threads_; }
  /// Gives: how long it is here: on threads nobody waits for seconds.
  [[nodiscard]] Duration lasting(Duration duration) const noexcept;
  [[nodiscard]] Budget within(Budget budget, Time now) const noexcept;

  ScopeNote& new_scope(const ScopeNote* outer);
  TaskNote& new_task(ScopeNote& home, bool finalizer);

  /// The task does something: a line of the log. Checks that it may still run.
  void step(TaskNote& task, Time now, Do what, std::uint64_t result = 0);
  /// Something is wrong.
  void broken(std::string_view law, std::string text);
  void expect(bool holds, std::string_view law, std::string_view text, std::uint64_t who);

  /// The same for what holds unless a task was forced to end: while a scope of it drains, the kernel aborts what it holds
  /// further out (OBL-5).
  void expect_unforced(bool holds, std::string_view law, std::string_view text, std::uint64_t who);

  // relaxed: only that no two are the same.
  [[nodiscard]] std::uint32_t next_number() noexcept { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }

  void reserved() noexcept { reserved_.add(); }
  void resolved(bool dropped) noexcept {
    resolved_.add();
    if (dropped) dropped_.add();
  }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_.count(); }

  /// The run is over. Checks that nothing is left; on threads the log is put together, task by task.
  void finish(bool forced);

  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }
  /// Gives: XXH64 over the log.
  [[nodiscard]] std::uint64_t digest() const noexcept;
  /// Gives: lines of four numbers: the task, the time, the statement that is done, and what it said.
  [[nodiscard]] const std::vector<std::uint64_t>& log() const noexcept { return log_; }
  static constexpr std::size_t line = 4;

 private:
  std::mutex mutex_;              // guards the four below while the program runs
  std::deque<ScopeNote> scopes_;  // they stay where they are
  std::deque<TaskNote> tasks_;
  std::vector<std::string> problems_;
  std::vector<std::string> unforced_problems_;
  std::vector<std::uint64_t> log_;
  std::atomic<std::uint32_t> numbers_{0};
  Tally reserved_;
  Tally resolved_;
  Tally dropped_;
  bool memory_fails_;
  bool threads_;
};

/// Stands in every frame: frames end once, innermost first (OUT-5, TSK-5).
class FrameMark {
 public:
  FrameMark(Journal& journal, TaskNote& task);
  FrameMark(const FrameMark&) = delete;
  FrameMark& operator=(const FrameMark&) = delete;
  ~FrameMark();

 private:
  Journal& journal_;
  TaskNote& task_;
  std::uint32_t number_;
};

/// Stands in every callable: it lives as long as its task (TSK-5), and the task in its scope (I2).
class Captured {
 public:
  Captured(Journal& journal, TaskNote& task) noexcept;
  Captured(Captured&& other) noexcept;
  Captured& operator=(Captured&&) = delete;
  ~Captured();

  [[nodiscard]] Journal& journal() const noexcept { return *journal_; }
  [[nodiscard]] TaskNote& task() const noexcept { return *task_; }

 private:
  Journal* journal_;
  TaskNote* task_;
};

/// Stands around a scope: when it ends the scope has returned, and must be quiet (I2).
class ScopeMark {
 public:
  ScopeMark(Journal& journal, ScopeNote& scope) noexcept : journal_(journal), scope_(scope) {}
  ScopeMark(const ScopeMark&) = delete;
  ScopeMark& operator=(const ScopeMark&) = delete;
  ~ScopeMark();

 private:
  Journal& journal_;
  ScopeNote& scope_;
};

/// Takes down how a child of the scope, or its body, ended.
void note_end(ScopeNote& scope, OutcomeKind end) noexcept;
/// Checks the end of the scope against what was taken down (OUT-4).
void check_end(Journal& journal, const ScopeNote& scope, bool opened, OutcomeKind end);

}  // namespace calm::programs
