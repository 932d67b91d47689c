// atomics.hpp — the atomic shim: lock-free code is a template over a policy and runs in two worlds.
// Laws:    LAB-8 (the lab checks lock-free code through instrumented atomics)
// Threads: as std::atomic
// Cancel:  not applicable
//
// A lock-free type takes `AtomicsPolicy Atomics = RealAtomics` and names its words Atomics::Atomic<T>. Every call states
// its memory orders: nothing here is sequentially consistent by omission. A loop that waits for another thread calls
// Atomics::pause() once per round, or Atomics::wait() when the wait may be long. Pure rooms reach atomics through this
// header only. local_atomics.hpp has the policy of a runtime with one worker, whose words are plain values.
//
// The policy of the lab is explore::ExplorerAtomics. Each operation first hands control to the explorer, which decides when
// this thread goes on, and which store a load reads; no operation may be dropped or joined with another. There pause()
// says that this thread can do nothing until another one has changed a word that it read.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>

namespace calm::lockfree {

/// The real world: words are std::atomic, a pause is the processor's.
struct RealAtomics {
  template <class T>
  using Atomic = std::atomic<T>;

  /// Whether another thread may touch a word at all. Where it is false, code may leave out what only others need.
  static constexpr bool shared = true;

  /// Gives: the core's resources to its sibling for a moment.
  static void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  /// Sleeps while the word is `old`. It may return for no reason: the caller looks again, with the order that it needs.
  template <class Word, class T>
  static void wait(const Word& word, T old) noexcept {
    word.wait(old, std::memory_order_relaxed);  // relaxed: nothing is decided here
  }

  /// Wakes one or all who wait for this word. Needs: the word was changed before.
  template <class Word>
  static void notify_one(Word& word) noexcept {
    word.notify_one();
  }
  template <class Word>
  static void notify_all(Word& word) noexcept {
    word.notify_all();
  }
};

/// A word of any type: read, write, swap, compare and swap.
template <class Word, class T>
concept AtomicWord = std::constructible_from<Word, T> && !std::copy_constructible<Word> &&
                     requires(Word& word, const Word& seen, T value, T& expected, std::memory_order order) {
                       { seen.load(order) } noexcept -> std::same_as<T>;
                       { word.store(value, order) } noexcept;
                       { word.exchange(value, order) } noexcept -> std::same_as<T>;
                       { word.compare_exchange_weak(expected, value, order, order) } noexcept -> std::same_as<bool>;
                       { word.compare_exchange_strong(expected, value, order, order) } noexcept -> std::same_as<bool>;
                     };

/// A word that counts and carries bits.
template <class Word, class T>
concept AtomicInteger = AtomicWord<Word, T> && requires(Word& word, T value, std::memory_order order) {
  { word.fetch_add(value, order) } noexcept -> std::same_as<T>;
  { word.fetch_sub(value, order) } noexcept -> std::same_as<T>;
  { word.fetch_or(value, order) } noexcept -> std::same_as<T>;
  { word.fetch_and(value, order) } noexcept -> std::same_as<T>;
};

/// How a thread sleeps until a word is another, and how it is woken.
template <class Policy, class Word, class T>
concept WaitsForWord = requires(Word& word, const Word& seen, T old) {
  { Policy::wait(seen, old) } noexcept;
  { Policy::notify_one(word) } noexcept;
  { Policy::notify_all(word) } noexcept;
};

/// What lock-free code may use. The types stand for all of their kind.
template <class Policy>
concept AtomicsPolicy =
    AtomicInteger<typename Policy::template Atomic<std::uint8_t>, std::uint8_t> &&
    AtomicInteger<typename Policy::template Atomic<std::uint32_t>, std::uint32_t> &&
    AtomicInteger<typename Policy::template Atomic<std::uint64_t>, std::uint64_t> &&
    AtomicWord<typename Policy::template Atomic<void*>, void*> &&
    AtomicWord<typename Policy::template Atomic<bool>, bool> &&
    WaitsForWord<Policy, typename Policy::template Atomic<std::uint32_t>, std::uint32_t> && requires {
      { Policy::pause() } noexcept;
      requires Policy::shared || !Policy::shared;  // a constant
    };

static_assert(AtomicsPolicy<RealAtomics>);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<void*>::is_always_lock_free);

}  // namespace calm::lockfree
