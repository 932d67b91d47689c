// weakened.hpp — atomics with one memory order made relaxed: what an explored test must notice.
// Laws:    LAB-8
// Threads: those of one explored program
// Cancel:  not applicable
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/explore/explorer_atomics.hpp"

namespace calm::explored {

/// The half of an order that is taken away, and from which operations.
enum class Weakening : std::uint8_t {
  none,
  load_acquire,
  store_release,
  update_acquire,  ///< exchange, fetch_add and their like
  update_release,
  compare_acquire,  ///< compare_exchange
  compare_release,
  load_seq_cst,
  store_seq_cst,
  update_seq_cst,
  load_any,  ///< whatever order it has
  update_any,
};

constexpr std::memory_order without_acquire(std::memory_order order) noexcept {
  if (order == std::memory_order_acquire) return std::memory_order_relaxed;
  return order == std::memory_order_acq_rel ? std::memory_order_release : order;
}
constexpr std::memory_order without_release(std::memory_order order) noexcept {
  if (order == std::memory_order_release) return std::memory_order_relaxed;
  return order == std::memory_order_acq_rel ? std::memory_order_acquire : order;
}
/// Still both halves, but no part of the one order of all such operations.
constexpr std::memory_order without_seq_cst(std::memory_order order, std::memory_order halves) noexcept {
  return order == std::memory_order_seq_cst ? halves : order;
}

template <Weakening what>
struct Weakened : explore::ExplorerAtomics {
  template <class T>
  class Atomic : public explore::Atomic<T> {
    using Base = explore::Atomic<T>;

   public:
    using Base::Base;

    T load(std::memory_order order) const noexcept {
      if (what == Weakening::load_any) return Base::load(std::memory_order_relaxed);
      if (what == Weakening::load_seq_cst) return Base::load(without_seq_cst(order, std::memory_order_acquire));
      return Base::load(what == Weakening::load_acquire ? without_acquire(order) : order);
    }
    void store(T value, std::memory_order order) noexcept {
      if (what == Weakening::store_seq_cst) order = without_seq_cst(order, std::memory_order_release);
      Base::store(value, what == Weakening::store_release ? without_release(order) : order);
    }
    T exchange(T value, std::memory_order order) noexcept { return Base::exchange(value, of_update(order)); }
    T fetch_add(T value, std::memory_order order) noexcept { return Base::fetch_add(value, of_update(order)); }
    T fetch_sub(T value, std::memory_order order) noexcept { return Base::fetch_sub(value, of_update(order)); }
    T fetch_or(T value, std::memory_order order) noexcept { return Base::fetch_or(value, of_update(order)); }
    T fetch_and(T value, std::memory_order order) noexcept { return Base::fetch_and(value, of_update(order)); }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      return Base::compare_exchange_strong(expected, desired, of_compare(success), failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
      return Base::compare_exchange_weak(expected, desired, of_compare(success), failure);
    }

   private:
    static constexpr std::memory_order of_update(std::memory_order order) noexcept {
      if (what == Weakening::update_any) return std::memory_order_relaxed;
      if (what == Weakening::update_seq_cst) return without_seq_cst(order, std::memory_order_acq_rel);
      if (what == Weakening::update_acquire) return without_acquire(order);
      return what == Weakening::update_release ? without_release(order) : order;
    }
    static constexpr std::memory_order of_compare(std::memory_order order) noexcept {
      if (what == Weakening::compare_acquire) return without_acquire(order);
      return what == Weakening::compare_release ? without_release(order) : order;
    }
  };
};

static_assert(lockfree::AtomicsPolicy<Weakened<Weakening::none>>);

}  // namespace calm::explored
