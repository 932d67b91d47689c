// shared.hpp — a variable that tasks share without calm's help, and how an exploration comes to know who touches it.
// Laws:    LAB-4
// Threads: the tasks of one worker; elsewhere it is a plain variable, and as unsafe
// Cancel:  not applicable
//
//   lab::Shared<int> balance(cx, 100);              // in the frame that owns it
//   const int seen = balance.get(inner);            // in the tasks that use it, each with its own context
//   balance.set(inner, seen - 10);
//
// The explorer tells two orders of steps apart only by what the steps touch. A plain variable is invisible to it.
#pragma once

#include <string_view>
#include <utility>

#include "calm/cx/context.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/resource.hpp"

namespace calm::lab {

/// Says that the running step reads or writes this.
inline void touch(CxOf<> cx, trace::ResourceId resource, trace::Access access) noexcept {
  const cx::TaskRoot& root = *cx::context_of(cx).root();
  (void)root.worker().recorder().touch(resource, access, root.id());
}
/// The same for something that has a name of its own in the program: a file, a row, a global.
inline void touch(CxOf<> cx, std::string_view name, trace::Access access) noexcept {
  touch(cx, cx::mark_resource(name), access);
}

template <class T>
class Shared {
 public:
  /// Needs: made anew in every run, as a local variable of the program is.
  explicit Shared(CxOf<> cx, T value = {})
      : resource_(cx::context_of(cx).root()->port().new_object()), value_(std::move(value)) {}
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  [[nodiscard]] const T& get(CxOf<> cx) const noexcept {
    if (resource_) touch(cx, resource_, trace::Access::read);
    return value_;
  }
  void set(CxOf<> cx, T value) {
    (void)changed(cx);
    value_ = std::move(value);
  }
  /// Gives: the value, to be changed before the next suspension.
  [[nodiscard]] T& changed(CxOf<> cx) noexcept {
    if (resource_) touch(cx, resource_, trace::Access::write);
    return value_;
  }

 private:
  trace::ResourceId resource_;
  T value_;
};

}  // namespace calm::lab
