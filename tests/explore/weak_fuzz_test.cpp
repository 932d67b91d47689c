// Release/acquire exploration against an enumeration of all orders and all reads, over random programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "calm/explore/atomic.hpp"
#include "calm/explore/explorer_atomics.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"
#include "calm/model/split_mix.hpp"

namespace calm::explore::weak_fuzz {
namespace {

constexpr std::size_t words_count = 2;

struct Operation {
  enum class Kind : std::uint8_t { load, store, add, exchange, weak_exchange, await_other, await_either };
  Kind kind = Kind::load;
  std::size_t word = 0;
  int value = 0;     // stored, added, or put in place of
  int expected = 0;  // of an exchange; what an await waits to be otherwise
  std::memory_order order = std::memory_order_relaxed;
};
using Sequence = std::vector<Operation>;
using Outcome = std::vector<int>;  // what every operation read, thread by thread, then the words

bool is(std::memory_order order, std::initializer_list<std::memory_order> orders) {
  return std::find(orders.begin(), orders.end(), order) != orders.end();
}
bool acquires(std::memory_order order) {
  return is(order, {std::memory_order_acquire, std::memory_order_acq_rel, std::memory_order_seq_cst});
}
bool releases(std::memory_order order) {
  return is(order, {std::memory_order_release, std::memory_order_acq_rel, std::memory_order_seq_cst});
}
std::memory_order failure_order(std::memory_order order) {
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order == std::memory_order_acq_rel ? std::memory_order_acquire : order;
}

std::vector<Sequence> random_threads(std::uint64_t seed) {
  SplitMix numbers(seed);
  std::vector<Sequence> threads(2 + numbers.below(2));
  const std::size_t longest = threads.size() == 2 ? 4 : 3;
  int value = 0;
  for (Sequence& thread : threads) {
    thread.resize(1 + numbers.below(longest));
    for (Operation& operation : thread) {
      using enum Operation::Kind;
      constexpr std::array kinds{load, load,     load,          store,       store,       store,
                                 add,  exchange, weak_exchange, await_other, await_either};
      operation.kind = kinds[numbers.below(kinds.size())];
      operation.word = numbers.below(words_count);
      operation.value = ++value;
      operation.expected = numbers.below(2) == 0 ? 0 : static_cast<int>(numbers.below(4));
      constexpr std::array loads{std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_seq_cst};
      constexpr std::array stores{std::memory_order_relaxed, std::memory_order_release, std::memory_order_seq_cst};
      constexpr std::array updates{std::memory_order_relaxed, std::memory_order_acquire, std::memory_order_release,
                                   std::memory_order_acq_rel, std::memory_order_seq_cst};
      const bool loads_only = operation.kind == load || operation.kind == await_other || operation.kind == await_either;
      operation.order = loads_only                ? loads[numbers.below(loads.size())]
                        : operation.kind == store ? stores[numbers.below(stores.size())]
                                                  : updates[numbers.below(updates.size())];
    }
  }
  return threads;
}

/// Gives: one line for each thread, `load x acquire; add y 3 relaxed`.
std::string to_string(const std::vector<Sequence>& threads) {
  constexpr std::array kinds{"load", "store", "add", "exchange", "weak_exchange", "await_other", "await_either"};
  constexpr std::array orders{"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};
  std::string text;
  for (const Sequence& thread : threads) {
    text += "\n ";
    for (const Operation& operation : thread) {
      text += std::string(" ") + kinds.at(static_cast<std::size_t>(operation.kind)) +
              (operation.word == 0 ? " x " : " y ") + std::to_string(operation.expected) + "->" +
              std::to_string(operation.value) + " " + orders.at(static_cast<std::size_t>(operation.order)) + ";";
    }
  }
  return text;
}

// --- all orders and all reads, one after another; it shares nothing with the explorer ---

class Enumeration {
 public:
  Enumeration(const std::vector<Sequence>& threads, const Machine& machine) : threads_(threads), machine_(machine) {}

  std::set<Outcome> outcomes() {
    State start;
    start.at.resize(threads_.size());
    start.views.resize(threads_.size());
    start.read.resize(threads_.size());
    start.half_way.resize(threads_.size());
    start.failures.resize(threads_.size());
    for (auto& word : start.words) word.push_back({});
    go(start);
    return outcomes_;
  }

 private:
  using View = std::array<std::size_t, words_count>;
  struct Message {
    int value = 0;
    View view{};
    friend auto operator<=>(const Message&, const Message&) = default;
  };
  struct State {
    std::vector<std::size_t> at;
    std::vector<View> views;
    std::vector<Outcome> read;
    std::vector<bool> half_way;  // of an await of either word: the first one has been read
    std::vector<std::uint32_t> failures;
    std::array<std::vector<Message>, words_count> words;
    View agreed{};
    friend auto operator<=>(const State&, const State&) = default;
  };

  static void join(View& into, const View& other) {
    for (std::size_t i = 0; i < words_count; ++i) into[i] = std::max(into[i], other[i]);
  }

  void go(const State& state) {
    if (!seen_.insert(state).second) return;
    bool ended = true;
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      if (state.at[i] == threads_[i].size()) continue;
      if (!waits_in_vain(state, threads_[i][state.at[i]])) ended = false;
      step(state, i, threads_[i][state.at[i]]);
    }
    if (!ended) return;
    Outcome outcome;
    for (const Outcome& read : state.read) outcome.insert(outcome.end(), read.begin(), read.end());
    for (const auto& word : state.words) outcome.push_back(word.back().value);
    outcomes_.insert(outcome);
  }

  static bool waits_in_vain(const State& state, const Operation& operation) {
    const auto is_as_expected = [&](std::size_t word) { return state.words[word].back().value == operation.expected; };
    if (operation.kind == Operation::Kind::await_other) return is_as_expected(operation.word);
    return operation.kind == Operation::Kind::await_either && is_as_expected(0) && is_as_expected(1);
  }

  void step(const State& state, std::size_t thread, const Operation& operation) {
    const auto& stores = state.words[operation.word];
    switch (operation.kind) {
      case Operation::Kind::store:
        return write(state, thread, operation, operation.value, false);
      case Operation::Kind::add:
        return write(state, thread, operation, stores.back().value + operation.value, true);
      case Operation::Kind::load:
        return read(state, thread, operation.word, operation.order,
                    [&](State& next, int value) { finish(next, thread, value); });
      case Operation::Kind::weak_exchange:
        if (stores.back().value == operation.expected && state.failures[thread] < machine_.spurious_failures) {
          State failed = state;
          ++failed.failures[thread];
          load(failed, thread, operation.word, stores.size() - 1, failure_order(operation.order));
          finish(failed, thread, operation.expected);
        }
        [[fallthrough]];
      case Operation::Kind::exchange:
        if (stores.back().value == operation.expected) write(state, thread, operation, operation.value, true);
        return read(state, thread, operation.word, failure_order(operation.order), [&](State& next, int value) {
          if (value != operation.expected) finish(next, thread, value);
        });
      case Operation::Kind::await_other:
        return read(state, thread, operation.word, operation.order, [&](State& next, int value) {
          if (value != operation.expected) finish(next, thread, value);
        });
      case Operation::Kind::await_either:
        return read(state, thread, state.half_way[thread] ? 1 : 0, operation.order, [&](State& next, int value) {
          next.half_way[thread] = value == operation.expected && !next.half_way[thread];
          if (value == operation.expected) {
            go(next);
          } else {
            finish(next, thread, value);
          }
        });
    }
  }

  static void load(State& next, std::size_t thread, std::size_t word, std::size_t store, std::memory_order order) {
    View& view = next.views[thread];
    view[word] = std::max(view[word], store);
    if (acquires(order)) join(view, next.words[word][store].view);
    if (order == std::memory_order_seq_cst) next.agreed[word] = std::max(next.agreed[word], store);
  }

  template <class Then>
  void read(const State& state, std::size_t thread, std::size_t word, std::memory_order order, Then then) {
    const auto& stores = state.words[word];
    std::size_t first = state.views[thread][word];
    if (order == std::memory_order_seq_cst) first = std::max(first, state.agreed[word]);
    if (machine_.memory == MemoryModel::sequential) first = stores.size() - 1;
    for (std::size_t i = first; i < stores.size(); ++i) {
      State next = state;
      load(next, thread, word, i, order);
      then(next, stores[i].value);
    }
  }

  void write(const State& state, std::size_t thread, const Operation& operation, int value, bool update) {
    State next = state;
    auto& stores = next.words[operation.word];
    const Message before = stores.back();
    View& view = next.views[thread];
    if (update && acquires(operation.order)) join(view, before.view);
    view[operation.word] = stores.size();
    Message message{value, {}};
    if (update) message.view = before.view;
    if (releases(operation.order)) join(message.view, view);
    if (operation.order == std::memory_order_seq_cst) next.agreed[operation.word] = stores.size();
    stores.push_back(message);
    finish(next, thread, update ? before.value : -1);
  }

  void finish(State& next, std::size_t thread, int read) {
    next.read[thread].push_back(read);
    ++next.at[thread];
    go(next);
  }

  const std::vector<Sequence>& threads_;
  Machine machine_;
  std::set<State> seen_;
  std::set<Outcome> outcomes_;
};

// --- the same for the explorer ---

using Words = std::array<Atomic<int>, words_count>;

int run_operation(Words& words, const Operation& operation) {
  Atomic<int>& word = words[operation.word];
  int value = operation.expected;
  switch (operation.kind) {
    case Operation::Kind::store:
      word.store(operation.value, operation.order);
      return -1;
    case Operation::Kind::add:
      return word.fetch_add(operation.value, operation.order);
    case Operation::Kind::load:
      return word.load(operation.order);
    case Operation::Kind::exchange:
      (void)word.compare_exchange_strong(value, operation.value, operation.order, failure_order(operation.order));
      return value;
    case Operation::Kind::weak_exchange:
      (void)word.compare_exchange_weak(value, operation.value, operation.order, failure_order(operation.order));
      return value;
    case Operation::Kind::await_other:
      while ((value = word.load(operation.order)) == operation.expected) ExplorerAtomics::pause();
      return value;
    case Operation::Kind::await_either:
      while ((value = words[0].load(operation.order)) == operation.expected &&
             (value = words[1].load(operation.order)) == operation.expected) {
        ExplorerAtomics::pause();
      }
      return value;
  }
  return value;
}

Threads::Setup program_of(const std::vector<Sequence>& sequences, std::set<Outcome>& outcomes) {
  return [&](Threads& threads) {
    threads.allow_deadlock();
    auto& words = threads.make<Words>();
    auto& read = threads.make<std::vector<Outcome>>(sequences.size());
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      threads.run([&words, &read, &sequences, i] {
        for (const Operation& operation : sequences[i]) read[i].push_back(run_operation(words, operation));
      });
    }
    threads.at_end([&words, &read, &outcomes] {
      Outcome outcome;
      for (const Outcome& one : read) outcome.insert(outcome.end(), one.begin(), one.end());
      for (const Atomic<int>& word : words) outcome.push_back(word.load());
      outcomes.insert(outcome);
    });
  };
}

constexpr std::array machines{Machine{.memory = MemoryModel::sequential, .spurious_failures = 0},
                              Machine{.memory = MemoryModel::sequential, .spurious_failures = 1},
                              Machine{.memory = MemoryModel::release_acquire, .spurious_failures = 0},
                              Machine{.memory = MemoryModel::release_acquire, .spurious_failures = 1}};

/// 500 for each machine in the tests; a campaign says more.
std::uint64_t programs_to_try() {
  const char* const asked = std::getenv("CALM_EXPLORE_PROGRAMS");
  return asked == nullptr ? 500 : std::strtoull(asked, nullptr, 10);
}

TEST(WeakMemoryFuzz, LAB_8_every_outcome_of_random_programs_is_reached_and_no_other) {
  for (std::uint64_t seed = 1; seed <= programs_to_try(); ++seed) {
    const std::vector<Sequence> sequences = random_threads(seed);
    for (const Machine& machine : machines) {
      std::set<Outcome> explored;
      const Report report = explore_threads(program_of(sequences, explored), {}, machine);
      ASSERT_TRUE(report.exhausted) << seed << to_string(sequences);
      ASSERT_EQ(report.buggy, 0U) << seed << to_string(sequences) << report.failures[0].problem;
      ASSERT_EQ(report.blocked, 0U) << seed << to_string(sequences);
      ASSERT_EQ(report.fingerprints, report.executions) << seed << to_string(sequences);
      ASSERT_EQ(explored, Enumeration(sequences, machine).outcomes()) << seed << to_string(sequences);
    }
  }
}

TEST(WeakMemoryFuzz, LAB_5_each_way_of_each_trace_is_visited_once) {
  std::uint64_t compared = 0;
  for (std::uint64_t seed = 1; seed <= programs_to_try() / 5; ++seed) {
    const std::vector<Sequence> sequences = random_threads(seed);
    for (const Machine& machine : machines) {
      std::set<Outcome> outcomes;
      Threads unreduced(program_of(sequences, outcomes), machine);
      const Report all = explore_all(unreduced, {.max_executions = 3'000});
      if (!all.exhausted) continue;
      Threads reduced(program_of(sequences, outcomes), machine);
      const Report once = explore_optimal(reduced);
      ASSERT_EQ(once.executions, all.fingerprints) << seed << to_string(sequences);
      ++compared;
    }
  }
  EXPECT_GE(compared, programs_to_try() / 2);
}

}  // namespace
}  // namespace calm::explore::weak_fuzz
