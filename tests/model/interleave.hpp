// interleave.hpp — runs two to four logical threads under every interleaving of their atomic operations.
// Laws:    LAB-8, its first half in small: sequentially consistent, every schedule, no reduction
// Threads: everything on the calling thread; logical threads are fibers
// Cancel:  not applicable
//
// A step of a thread is one operation on a ModelAtomics word and the plain code after it up to the next operation; the
// code before its first operation runs before all steps. Every order of steps is run once, each from a fresh State, depth
// first. So n threads of one operation each have n! executions. Memory orders are not looked at: that a release is
// missing is for ThreadSanitizer and the stress tests to find.
//
//   struct Counter { ModelAtomics::Atomic<int> value{0}; };
//   Report report = explore<Counter>({add_one, add_one}, [](Counter& c) { EXPECT_EQ(read(c), 2); });
//   EXPECT_TRUE(report.ok()) << report;
//
// An execution fails by an EXPECT or ASSERT or an exception, in a thread or in the check at its end; when all threads
// pause() and nothing changes (deadlock); when it takes too many steps (livelock). The report has the schedule, which
// replay() runs again: "A B! A" is a step of A, a step of B whose weak compare-exchange fails spuriously, a step of A.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <type_traits>
#include <vector>

#include "calm/lockfree/atomics.hpp"

namespace calm::interleave {

inline constexpr std::uint64_t unbounded = ~std::uint64_t{0};

struct Options {
  std::uint64_t max_preemptions = unbounded;  // switches away from a thread that could go on
  std::uint64_t max_spurious = 0;             // spurious failures of compare_exchange_weak in one execution
  std::uint64_t max_steps = 1'000;            // of one execution, beyond it: livelock
  std::uint64_t max_executions = 2'000'000;   // beyond it the report is not exhausted
};

struct Report {
  std::uint64_t executions = 0;
  std::uint64_t longest = 0;  // steps
  bool exhausted = false;     // every schedule within the bounds was run
  std::string failure;        // what went wrong, empty when nothing did
  std::string schedule;       // of the failed execution, or of the replayed one
  std::string story;          // the same step by step, with words and values

  [[nodiscard]] bool ok() const { return exhausted && failure.empty(); }
};

std::ostream& operator<<(std::ostream& out, const Report& report);

template <class State>
using Body = std::function<void(State&)>;

/// Gives: what happened over all schedules; it stops at the first failure.
template <class State>
Report explore(const std::vector<Body<State>>& threads, const Body<State>& check, const Options& options = {});

/// Needs: a schedule as a report shows it. Where it ends, the first thread that can go on does.
/// Gives: the report of this one execution; a failure when the schedule does not fit the program.
template <class State>
Report replay(const std::string& schedule, const std::vector<Body<State>>& threads, const Body<State>& check,
              const Options& options = {});

namespace detail {

/// One execution: fresh state, the bodies bound to it, the check.
struct Program {
  std::vector<std::function<void()>> threads;
  std::function<void()> check;
};
using MakeProgram = std::function<Program()>;

Report explore(const MakeProgram& make, const Options& options);
Report replay(const std::string& schedule, const MakeProgram& make, const Options& options);

// What an operation asks of the execution it is part of. Outside of logical threads nothing happens.
void wait_for_turn() noexcept;
void wait_for_change() noexcept;
bool fails_spuriously() noexcept;
void value_changed() noexcept;
std::uint64_t name_word() noexcept;
bool telling() noexcept;
void tell(const char* operation, std::uint64_t word, const std::string& before, const std::string& after);

template <class T>
std::string show(const T& value) {
  if constexpr (std::is_pointer_v<T>) {
    return value == nullptr ? "null" : "pointer";
  } else if constexpr (std::is_enum_v<T>) {
    return std::to_string(static_cast<std::underlying_type_t<T>>(value));
  } else {
    return std::to_string(value);
  }
}

template <class T>
class ModelWord {
 public:
  ModelWord() noexcept : ModelWord(T{}) {}
  ModelWord(T value) noexcept : value_(value) {}  // NOLINT(google-explicit-constructor): as std::atomic
  ModelWord(const ModelWord&) = delete;
  ModelWord& operator=(const ModelWord&) = delete;

  T load(std::memory_order) const noexcept {
    wait_for_turn();
    if (telling()) tell("load", name_, show(value_), show(value_));
    return value_;
  }
  void store(T value, std::memory_order) noexcept { change("store", value); }
  T exchange(T value, std::memory_order) noexcept { return change("exchange", value); }

  bool compare_exchange_strong(T& expected, T desired, std::memory_order, std::memory_order) noexcept {
    wait_for_turn();
    return compare_exchange(expected, desired, false);
  }
  bool compare_exchange_weak(T& expected, T desired, std::memory_order, std::memory_order) noexcept {
    wait_for_turn();
    return compare_exchange(expected, desired, value_ == expected && fails_spuriously());
  }

  T fetch_add(T value, std::memory_order) noexcept {
    return update("fetch_add", [=](T was) { return was + value; });
  }
  T fetch_sub(T value, std::memory_order) noexcept {
    return update("fetch_sub", [=](T was) { return was - value; });
  }
  T fetch_or(T value, std::memory_order) noexcept {
    return update("fetch_or", [=](T was) { return was | value; });
  }
  T fetch_and(T value, std::memory_order) noexcept {
    return update("fetch_and", [=](T was) { return was & value; });
  }

 private:
  T change(const char* operation, T value) noexcept {
    wait_for_turn();
    return set(operation, value);
  }
  template <class Function>
  T update(const char* operation, Function function) noexcept {
    wait_for_turn();
    return set(operation, static_cast<T>(function(value_)));
  }
  bool compare_exchange(T& expected, T desired, bool spurious) noexcept {
    if (value_ != expected || spurious) {
      if (telling()) tell(spurious ? "spurious failure" : "failed compare_exchange", name_, show(value_), show(value_));
      expected = value_;
      return false;
    }
    set("compare_exchange", desired);
    return true;
  }
  T set(const char* operation, T value) noexcept {
    const T was = value_;
    if (telling()) tell(operation, name_, show(was), show(value));
    value_ = value;
    if (was != value) value_changed();
    return was;
  }

  T value_;
  std::uint64_t name_ = name_word();
};

template <class State>
MakeProgram program_maker(const std::vector<Body<State>>& threads, const Body<State>& check) {
  return [threads, check] {
    const auto state = std::make_shared<State>();
    Program program;
    for (const Body<State>& body : threads) program.threads.emplace_back([state, body] { body(*state); });
    program.check = [state, check] { check(*state); };
    return program;
  };
}

}  // namespace detail

/// The instrumented world: every operation is a scheduling point, pause() waits until another thread changed a word.
struct ModelAtomics {
  template <class T>
  using Atomic = detail::ModelWord<T>;

  static constexpr bool shared = true;

  static void pause() noexcept { detail::wait_for_change(); }

  // A wait may end for no reason, and here it ends with every change: a missing notify does not show.
  template <class Word, class T>
  static void wait(const Word& /*word*/, T /*old*/) noexcept {
    detail::wait_for_change();
  }
  template <class Word>
  static void notify_one(Word& /*word*/) noexcept {}
  template <class Word>
  static void notify_all(Word& /*word*/) noexcept {}
};

static_assert(lockfree::AtomicsPolicy<ModelAtomics>);

template <class State>
Report explore(const std::vector<Body<State>>& threads, const Body<State>& check, const Options& options) {
  return detail::explore(detail::program_maker(threads, check), options);
}

template <class State>
Report replay(const std::string& schedule, const std::vector<Body<State>>& threads, const Body<State>& check,
              const Options& options) {
  return detail::replay(schedule, detail::program_maker(threads, check), options);
}

}  // namespace calm::interleave
