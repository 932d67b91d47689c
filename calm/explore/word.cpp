#include "calm/explore/word.hpp"

#include <algorithm>
#include <vector>

namespace calm::explore {
namespace {

// Beside a word there are two places that its accesses meet at: where its sleepers lie, and what seq_cst loads agree on.
constexpr Location line_bit = 1U << 23U;
constexpr Location agreement_bit = 1U << 22U;

/// Who reads a word in seq_cst order may make others of its kind see what it saw.
Touch agreement_of(Threads& threads, Location location, Stores::History history) {
  const Location agreement = location | agreement_bit;
  return threads.memory()->raises(history) ? Touch::write(agreement) : Touch::read(agreement);
}

}  // namespace

/// A load that is about to happen.
struct Word::Look {
  const Word* word;
  std::memory_order order;

  [[nodiscard]] std::vector<Stores::Stamp> readable(Threads& threads, Process process) const {
    const Stores::History history = threads.history_of(*word);
    Footprint elsewhere;
    if (order == std::memory_order_seq_cst) elsewhere.add(agreement_of(threads, word->location_, history));
    for (const Threads::Seen& seen : threads.waited_for(process)) {
      if (seen.word != word) elsewhere.read(seen.word->location_);
    }
    std::vector<Stores::Stamp> stamps;
    threads.memory()->readable(process, history, order, elsewhere, stamps);
    return stamps;
  }
  static Way ways(Threads& threads, Process process, const void* asked) {
    return static_cast<Way>(static_cast<const Look*>(asked)->readable(threads, process).size());
  }
};

/// A compare-and-swap that is about to happen.
struct Word::Exchange {
  const Word* word;
  std::uint64_t expected;
  Orders orders;
  bool weak;

  [[nodiscard]] bool can_succeed() const noexcept { return word->bits_ == expected; }
  [[nodiscard]] bool can_fail_for_no_reason(const Threads& threads, Process process) const noexcept {
    return weak && can_succeed() && threads.may_fail(process);
  }
  /// The stores it can read and fail by, the newest first.
  [[nodiscard]] std::vector<Stores::Stamp> failures(Threads& threads, Process process) const {
    if (threads.memory() == nullptr) return {};
    std::vector<Stores::Stamp> stamps = Look{word, orders.failure}.readable(threads, process);
    std::erase_if(stamps,
                  [&](Stores::Stamp stamp) { return threads.memory()->bits(word->history_, stamp) == expected; });
    return stamps;
  }
  static Way ways(Threads& threads, Process process, const void* asked) {
    const auto& exchange = *static_cast<const Exchange*>(asked);
    std::size_t ways = exchange.failures(threads, process).size();
    if (exchange.can_succeed()) ++ways;
    if (exchange.can_fail_for_no_reason(threads, process)) ++ways;
    return static_cast<Way>(std::max<std::size_t>(ways, 1));
  }
};

void Word::read_store(Threads& threads, Stores::Stamp stamp, std::memory_order order) const noexcept {
  threads.memory()->load(threads.process(), history_, stamp, order);
  threads.saw({this, threads.memory()->bits(history_, stamp), stamp});
  threads.set_age(threads.memory()->newest(history_) - stamp);
}

std::uint64_t Word::load_from_history(Threads& threads, std::memory_order order) const noexcept {
  if (!threads.in_thread()) return bits_;
  const Look look{this, order};
  // What a seq_cst load touches depends on what others have seen.
  threads.arrive({.kind = order == std::memory_order_seq_cst ? StepKind::free : StepKind::fixed,
                  .location = location_,
                  .word = &look,
                  .ways = &Look::ways});
  threads.touch(Touch::read(location_));
  if (order == std::memory_order_seq_cst) threads.touch(agreement_of(threads, location_, threads.history_of(*this)));
  const Stores::Stamp stamp = look.readable(threads, threads.process())[threads.way()];
  read_store(threads, stamp, order);
  return threads.memory()->bits(history_, stamp);
}

void Word::store_into_history(Threads& threads, std::uint64_t bits, std::memory_order order) noexcept {
  if (threads.in_thread()) {
    threads.memory()->store(threads.process(), threads.history_of(*this), bits, order);
    threads.changed();
  }
  bits_ = bits;
}

void Word::update_history(Threads& threads, std::uint64_t bits, std::memory_order order) noexcept {
  if (threads.in_thread()) {
    const Stores::History history = threads.history_of(*this);
    threads.memory()->update(threads.process(), history, bits, order);
    if (bits == bits_) {
      threads.saw({this, bits, threads.memory()->newest(history)});
    } else {
      threads.changed();
    }
  }
  bits_ = bits;
}

bool Word::compare_exchange_one_way(Threads& threads, std::uint64_t& expected, std::uint64_t desired, Orders orders,
                                    bool weak) noexcept {
  Exchange exchange{this, expected, orders, weak};
  threads.arrive(
      {.kind = StepKind::free, .location = location_, .write = true, .word = &exchange, .ways = &Exchange::ways});
  if (threads.memory() != nullptr) {
    const bool changed = exchange_in_history(threads, exchange, desired);
    expected = exchange.expected;
    return changed;
  }
  const bool for_no_reason = threads.way() != 0;
  threads.touch(exchange.can_succeed() ? Touch::write(location_) : Touch::read(location_));
  if (exchange.can_succeed() && !for_no_reason) {
    end_change(&threads, desired);
    return true;
  }
  if (for_no_reason) threads.count_failure();
  threads.saw({this, bits_});
  expected = bits_;
  return false;
}

/// Way 0 succeeds if it can; then comes the failure for no reason, then those by what was read.
bool Word::exchange_in_history(Threads& threads, Exchange& exchange, std::uint64_t desired) noexcept {
  const Process process = threads.process();
  const Stores::History history = threads.history_of(*this);
  const bool can_succeed = exchange.can_succeed();
  std::size_t way = threads.way();
  threads.touch(can_succeed ? Touch::write(location_) : Touch::read(location_));
  if (exchange.orders.failure == std::memory_order_seq_cst) threads.touch(agreement_of(threads, location_, history));
  if (can_succeed && way-- == 0) {
    update_history(threads, desired, exchange.orders.success);
    return true;
  }
  if (exchange.can_fail_for_no_reason(threads, process) && way-- == 0) {
    threads.count_failure();
    read_store(threads, threads.memory()->newest(history), exchange.orders.failure);
    return false;
  }
  const Stores::Stamp stamp = exchange.failures(threads, process)[way];
  read_store(threads, stamp, exchange.orders.failure);
  exchange.expected = threads.memory()->bits(history, stamp);
  return false;
}

void Word::await_other(std::uint64_t old, std::memory_order order) const noexcept {
  struct Waiting {
    const Word* word;
    std::uint64_t old;
  };
  Threads* const threads = Threads::current();
  if (threads == nullptr || !threads->in_thread()) return;
  const Waiting waiting{this, old};
  threads->arrive({.kind = StepKind::free,
                   .location = location_,
                   .can_go_on =
                       [](const void* asked) {
                         const auto& w = *static_cast<const Waiting*>(asked);
                         return w.word->bits_ != w.old;
                       },
                   .word = &waiting});
  threads->touch(Touch::read(location_));
  if (threads->memory() != nullptr) read_store(*threads, threads->memory()->newest(threads->history_of(*this)), order);
}

void Word::sleep_while(std::uint64_t old) const noexcept {
  Threads* const threads = Threads::current();
  if (threads == nullptr || !threads->in_thread()) return;
  threads->arrive({.kind = StepKind::free, .location = location_, .write = true});
  threads->touch(Touch::read(location_));
  if (bits_ != old) return;
  const Location line = location_ | line_bit;
  bool woken = false;
  threads->sleepers().push_back({line, &woken});
  threads->touch(Touch::write(line));
  threads->arrive({.kind = StepKind::free,
                   .location = line,
                   .can_go_on = [](const void* asked) { return *static_cast<const bool*>(asked); },
                   .word = &woken});
  threads->touch(Touch::read(line));
}

void Word::wake(std::uint32_t count) const noexcept {
  Threads* const threads = Threads::current();
  if (threads == nullptr || !threads->in_thread()) return;
  const Location line = location_ | line_bit;
  threads->arrive({.kind = StepKind::free, .location = line, .write = true});
  std::uint32_t woken = 0;
  std::erase_if(threads->sleepers(), [&](const Threads::Sleeper& sleeper) {
    if (sleeper.line != line || woken == count) return false;
    *sleeper.woken = true;
    ++woken;
    return true;
  });
  threads->touch(woken == 0 ? Touch::read(line) : Touch::write(line));
}

}  // namespace calm::explore
