// parcel.hpp — a value that is hard on channels: it cannot be copied, its move throws when told to, and it counts itself.
// Laws:    none of its own
// Threads: one
// Cancel:  not applicable
#pragma once

#include <stdexcept>
#include <utility>

namespace calm::channel {

class Parcel {
 public:
  explicit Parcel(int number) noexcept : number_(number) { ++alive; }
  Parcel(Parcel&& other) : number_(other.number_) {
    if (moves_until_throw > 0 && --moves_until_throw == 0) throw std::runtime_error("the parcel is too heavy");
    other.number_ = 0;
    ++alive;
  }
  Parcel& operator=(Parcel&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Parcel() { --alive; }

  /// Gives: 0 when it was moved from.
  [[nodiscard]] int number() const noexcept { return number_; }

  // NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables): of one thread of tests, which begin by setting them
  static inline int alive = 0;
  static inline int moves_until_throw = 0;  ///< 0: moves do not throw
                                            // NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

 private:
  int number_;
};

}  // namespace calm::channel
