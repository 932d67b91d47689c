// shared_value.hpp — a value that several tasks look at, each as long as it needs: what watch and broadcast hand out.
// Laws:    CHN-11
// Threads: made by one task, then constant; the last who lets go ends it, outside any turn
// Cancel:  not applicable
#pragma once

#include <new>
#include <utility>

#include "calm/mem/ref.hpp"

namespace calm::channel {

template <class T>
class SharedValue final : public mem::RefCounted {
 public:
  /// Gives: nothing without memory, and the value is where it was. Needs: a move of T that does not throw.
  [[nodiscard]] static mem::Ref<SharedValue> make(T&& value) noexcept {
    try {
      return mem::Ref<SharedValue>::adopt(new SharedValue(std::move(value)));
    } catch (const std::bad_alloc&) {
      return {};
    }
  }
  [[nodiscard]] const T& get() const noexcept { return value_; }

  static void destroy(const SharedValue* value) noexcept { delete value; }

 private:
  explicit SharedValue(T&& value) noexcept : value_(std::move(value)) {}
  ~SharedValue() = default;

  T value_;
};

}  // namespace calm::channel
