// fingerprint_set.hpp — a set of fingerprints in one block of memory: they are hashes already, so they are their own place.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
#pragma once

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
    if (fingerprint == 0) {  // a free place
      const bool added = !has_zero_;
      has_zero_ = true;
      count_ += added ? 1 : 0;
      return added;
    }
    if (4 * (count_ + 1) > 3 * places_.size()) grow();
    std::uint64_t& place = find(places_, fingerprint);
    if (place == fingerprint) return false;
    place = fingerprint;
    ++count_;
    return true;
  }

  /// Gives: all of them, in no order. Fails: std::bad_alloc.
  [[nodiscard]] std::vector<std::uint64_t> all() const {
    std::vector<std::uint64_t> found;
    found.reserve(count_);
    if (has_zero_) found.push_back(0);
    for (const std::uint64_t fingerprint : places_) {
      if (fingerprint != 0) found.push_back(fingerprint);
    }
    return found;
  }

 private:
  static std::uint64_t& find(std::vector<std::uint64_t>& places, std::uint64_t fingerprint) noexcept {
    const std::size_t mask = places.size() - 1;
    std::size_t at = fingerprint & mask;
    while (places[at] != 0 && places[at] != fingerprint) at = (at + 1) & mask;
    return places[at];
  }

  void grow() {
    std::vector<std::uint64_t> larger(places_.empty() ? 64 : 2 * places_.size(), 0);
    for (const std::uint64_t fingerprint : places_) {
      if (fingerprint != 0) find(larger, fingerprint) = fingerprint;
    }
    places_ = std::move(larger);
  }

  std::vector<std::uint64_t> places_;  // a power of two of them
  std::size_t count_ = 0;
  bool has_zero_ = false;
};

}  // namespace calm::explore
