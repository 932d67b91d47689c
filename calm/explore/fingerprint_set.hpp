// fingerprint_set.hpp — a set of fingerprints: they are hashes already, so they say themselves where they lie.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
//
// It consists of many small tables that grow on their own, so that growing never needs much memory at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace calm::explore {

class FingerprintSet {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  /// Gives: false when it is there already. Fails: std::bad_alloc, and nothing has changed.
  bool insert(std::uint64_t fingerprint) {
    if (fingerprint == 0) return !std::exchange(has_zero_, true) && ++count_ != 0;
    const std::size_t number = fingerprint >> 56U;
    Table& table = tables_[number];
    if (5 * (table.count + 1) > 4 * table.places.size()) table.grow(number);
    std::uint64_t& place = find(table.places, fingerprint);
    if (place == fingerprint) return false;
    place = fingerprint;
    ++table.count;
    ++count_;
    return true;
  }

  /// Gives: all of them, in no order. Fails: std::bad_alloc.
  [[nodiscard]] std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> found;
    found.reserve(count_);
    if (has_zero_) found.push_back(0);
    for (const Table& table : tables_) {
      for (const std::uint64_t fingerprint : table.places) {
        if (fingerprint != 0) found.push_back(fingerprint);
      }
    }
    return found;
  }

 private:
  struct Table {
    std::vector<std::uint64_t> places;  // 0 is free
    std::size_t count = 0;

    /// Tables begin with different sizes, so that they do not all grow at the same time.
    void grow(std::size_t number) {
      std::vector<std::uint64_t> larger(places.empty() ? 64 + number / 16 : places.size() + places.size() / 4, 0);
      for (const std::uint64_t fingerprint : places) {
        if (fingerprint != 0) find(larger, fingerprint) = fingerprint;
      }
      places = std::move(larger);
    }
  };

  static std::uint64_t& find(std::vector<std::uint64_t>& places, std::uint64_t fingerprint) noexcept {
    std::uint64_t* const all = places.data();
    std::size_t at = (fingerprint & UINT32_MAX) * places.size() >> 32U;
    while (all[at] != 0 && all[at] != fingerprint) at = at + 1 == places.size() ? 0 : at + 1;
    return all[at];
  }

  std::array<Table, 256> tables_{};
  std::size_t count_ = 0;
  bool has_zero_ = false;
};

}  // namespace calm::explore
