// plain.hpp — a variable that is no atomic: two threads that use it at once, one of them writing, are found out.
// Laws:    LAB-8
// Threads: those of one explored program, in turns that something else keeps
// Cancel:  not applicable
//
// It is no step: whatever order its uses come in, two of them that nothing orders are a data race. Only a machine with
// MemoryModel::release_acquire knows what orders them; elsewhere it is the value alone.
#pragma once

#include <utility>
#include <vector>

#include "calm/explore/threads.hpp"

namespace calm::explore {

/// Who used a variable, and when.
class PlainUses {
 public:
  void read();
  void write();

 private:
  Stores::Moment written_;
  std::vector<Stores::Moment> read_;  // since it was written
};

template <class T>
class Plain {
 public:
  Plain() noexcept : Plain(T{}) {}
  /// To make it is to write it.
  Plain(T value) noexcept : value_(std::move(value)) {  // NOLINT(google-explicit-constructor): stands for its value
    uses_.write();
  }
  Plain(const Plain&) = delete;
  Plain& operator=(const Plain&) = delete;
  ~Plain() = default;

  operator const T&() const { return get(); }  // NOLINT(google-explicit-constructor): stands for its value
  Plain& operator=(T value) {
    set(std::move(value));
    return *this;
  }

  /// Fails: the execution, when a write is not known to come before.
  [[nodiscard]] const T& get() const {
    uses_.read();
    return value_;
  }
  /// Fails: the execution, when another use is not known to come before.
  void set(T value) {
    uses_.write();
    value_ = std::move(value);
  }

 private:
  T value_{};
  mutable PlainUses uses_;
};

}  // namespace calm::explore
