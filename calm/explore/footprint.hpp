// footprint.hpp — what one step touched: locations, and whether it wrote them. Two steps conflict or commute by it alone.
// Laws:    LAB-4
// Threads: values
// Cancel:  not applicable
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace calm::explore {

/// A place two steps can meet at, as a small number; who runs the program keeps it the same from run to run.
using Location = std::uint32_t;

/// One location and what was done to it: the location in the upper 31 bits, 1 below for a write.
class Touch {
 public:
  constexpr Touch() noexcept = default;
  static constexpr Touch read(Location location) noexcept { return Touch(location << 1U); }
  static constexpr Touch write(Location location) noexcept { return Touch(location << 1U | 1U); }

  /// Gives: the touch with these bits().
  static constexpr Touch from_bits(std::uint32_t bits) noexcept { return Touch(bits); }

  [[nodiscard]] constexpr Location location() const noexcept { return bits_ >> 1U; }
  [[nodiscard]] constexpr bool is_write() const noexcept { return (bits_ & 1U) != 0; }
  [[nodiscard]] constexpr std::uint32_t bits() const noexcept { return bits_; }

  /// The same location, and at least one of them writes.
  [[nodiscard]] constexpr bool conflicts(Touch other) const noexcept {
    return (bits_ ^ other.bits_) <= 1 && ((bits_ | other.bits_) & 1U) != 0;
  }

  friend constexpr bool operator==(Touch, Touch) noexcept = default;
  friend constexpr auto operator<=>(Touch, Touch) noexcept = default;

 private:
  constexpr explicit Touch(std::uint32_t bits) noexcept : bits_(bits) {}
  std::uint32_t bits_ = 0;
};

/// All touches of a step, each location once. Up to seven stand in the value itself: such a footprint is copied at once.
///
/// Of several touches a footprint knows a bit for each location, in 64: two that have no such bit in common do not conflict.
class Footprint {
 public:
  Footprint() noexcept = default;
  Footprint(const Footprint& other) { *this = other; }
  Footprint(Footprint&&) noexcept = default;
  Footprint& operator=(const Footprint& other) {
    if (other.more_ != nullptr || more_ != nullptr) [[unlikely]]
      copy_more(other);
    count_ = other.count_;
    near_ = other.near_;
    bits_ = other.bits_;
    return *this;
  }
  Footprint& operator=(Footprint&&) noexcept = default;
  ~Footprint() = default;

  void clear() noexcept {
    count_ = 0;
    if (more_ != nullptr) more_->clear();
  }

  /// A location that was touched before keeps the stronger access.
  void add(Touch touch) {
    if (count_ != 0) return add_another(touch);
    near_[0] = touch;
    count_ = 1;
  }
  void read(Location location) { add(Touch::read(location)); }
  void write(Location location) { add(Touch::write(location)); }

  [[nodiscard]] std::uint32_t size() const noexcept { return count_; }
  [[nodiscard]] Touch operator[](std::uint32_t i) const noexcept { return i < near ? near_[i] : (*more_)[i - near]; }

  [[nodiscard]] bool conflicts(const Footprint& other) const noexcept {
    if (count_ == 1 && other.count_ == 1) return near_[0].conflicts(other.near_[0]);
    const Bits mine = bits();
    const Bits others = other.bits();
    if (((mine.written & others.touched) | (mine.touched & others.written)) == 0) return false;
    return some_conflict(other);
  }

  /// The order of the touches makes no difference.
  friend bool operator==(const Footprint& a, const Footprint& b) {
    if (a.count_ != b.count_) return false;
    if (a.count_ == 1) return a.near_[0] == b.near_[0];
    if (a.count_ == 0) return true;
    return a.bits_ == b.bits_ && (a.has_in_order(b) || a.has_all_of(b));
  }

 private:
  static constexpr std::uint32_t near = 7;

  struct Bits {
    std::uint64_t touched = 0;
    std::uint64_t written = 0;

    void add(Touch touch) noexcept {
      const std::uint64_t bit = std::uint64_t{1} << (touch.location() * 0x9E3779B1U >> 26U);
      touched |= bit;
      if (touch.is_write()) written |= bit;
    }
    friend bool operator==(const Bits&, const Bits&) noexcept = default;
  };
  [[nodiscard]] Bits bits() const noexcept {
    if (count_ != 1) return bits_;
    Bits one;
    one.add(near_[0]);
    return one;
  }

  [[nodiscard]] Touch& at(std::uint32_t i) noexcept { return i < near ? near_[i] : (*more_)[i - near]; }

  void add_another(Touch touch) {
    if (count_ == 1) bits_ = bits();
    bits_.add(touch);
    for (std::uint32_t i = 0; i < count_; ++i) {
      if (at(i).location() == touch.location()) {
        if (touch.is_write()) at(i) = touch;
        return;
      }
    }
    if (count_ < near) {
      near_[count_] = touch;
    } else {
      if (more_ == nullptr) more_ = std::make_unique<std::vector<Touch>>();
      more_->push_back(touch);
    }
    ++count_;
  }

  [[nodiscard]] bool some_conflict(const Footprint& other) const noexcept {
    const std::uint32_t mine = std::min(count_, near);
    const std::uint32_t others = std::min(other.count_, near);
    for (std::uint32_t i = 0; i < mine; ++i) {
      const Touch touch = near_.data()[i];
      for (std::uint32_t j = 0; j < others; ++j) {
        if (touch.conflicts(other.near_.data()[j])) return true;
      }
    }
    return (count_ > near || other.count_ > near) && some_far_conflict(other);
  }
  [[nodiscard]] bool some_far_conflict(const Footprint& other) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      for (std::uint32_t j = i < near ? near : 0; j < other.count_; ++j) {
        if ((*this)[i].conflicts(other[j])) return true;
      }
    }
    return false;
  }

  [[nodiscard]] bool has_in_order(const Footprint& other) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i) {
      if ((*this)[i] != other[i]) return false;
    }
    return true;
  }

  [[nodiscard]] bool has_all_of(const Footprint& other) const noexcept {
    for (std::uint32_t j = 0; j < other.count_; ++j) {
      bool found = false;
      for (std::uint32_t i = 0; i < count_ && !found; ++i) found = (*this)[i] == other[j];
      if (!found) return false;
    }
    return true;
  }

  void copy_more(const Footprint& other) {
    if (other.more_ != nullptr && more_ != nullptr) {
      *more_ = *other.more_;
    } else if (other.more_ != nullptr) {
      more_ = std::make_unique<std::vector<Touch>>(*other.more_);
    } else {
      more_->clear();
    }
  }

  std::uint32_t count_ = 0;
  std::array<Touch, near> near_{};
  Bits bits_;  // while there are two or more, else of no meaning
  std::unique_ptr<std::vector<Touch>> more_;
};

}  // namespace calm::explore
