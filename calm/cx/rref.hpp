// rref.hpp — objects in the memory of a scope: they live until it is Closed, and are borrowed to be used.
// Laws:    REG-7, REG-10, GHO-2
// Threads: a reference goes wherever its T may go; the object is used as its own type allows
// Cancel:  not applicable
//
// Debug builds and the lab watch the borrows: two at a time of which one changes the object, and one that is held across an
// await although its type forbids that, are reported with both places.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <source_location>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/kernel/region_heap.hpp"
#include "calm/model/outcome.hpp"

namespace calm {

/// A type whose borrows must end before the next await says so:
/// `template <> inline constexpr bool calm::stays_within_a_poll<Mine> = true;`
template <class T>
inline constexpr bool stays_within_a_poll = false;

namespace cx {

/// Who has borrowed an object. A lock of its own: borrows of a shared object may come from several threads.
class Borrows {
 public:
  enum class Use : std::uint8_t { reads, changes };

  /// Gives: the place of a borrow that this one must not meet, if there is one. The borrow counts either way.
  void begin(Port& port, kernel::Worker& worker, TaskId task, RegionId region, Use use, std::source_location site);
  void end(Use use) noexcept;

 private:
  class Locked;

  std::atomic_flag busy_;
  std::uint32_t readers_ = 0;
  std::uint32_t changers_ = 0;
  std::source_location last_{};
};

/// One borrow, as the ghosts see it.
class BorrowMark {
 public:
  BorrowMark(const Context& context, Borrows& borrows, Borrows::Use use, bool within_a_poll, std::source_location site);
  BorrowMark(BorrowMark&& other) noexcept;
  BorrowMark& operator=(BorrowMark&& other) = delete;
  ~BorrowMark();

 private:
  Port* port_;  // none: nobody watches
  Borrows* borrows_;
  TaskId task_;
  std::uint64_t awaits_;
  std::source_location site_;
  Borrows::Use use_;
  bool within_a_poll_;
};

template <class T>
struct RegionObject {
  template <class... Arguments>
  explicit RegionObject(Arguments&&... arguments) : value(std::forward<Arguments>(arguments)...) {}
  T value;
  Borrows borrows;
};

}  // namespace cx

/// A borrow of an object in a scope's memory: use it, and let it go soon. `T` is const when it only reads.
template <class T>
class [[nodiscard]] Borrowed {
 public:
  Borrowed(T& object, cx::BorrowMark mark) noexcept : object_(&object), mark_(std::move(mark)) {}

  [[nodiscard]] T& operator*() const noexcept { return *object_; }
  [[nodiscard]] T* operator->() const noexcept { return object_; }

 private:
  T* object_;
  cx::BorrowMark mark_;
};

template <class T>
class RRef {
 public:
  RRef(RegionId region, cx::RegionObject<T>& object) noexcept : region_(region), object_(&object) {}

  [[nodiscard]] RegionId region() const noexcept { return region_; }

  /// Fails: region_closed; the object is gone then.
  [[nodiscard]] Outcome<Borrowed<const T>> read(CxOf<> cx,
                                                std::source_location site = std::source_location::current()) const {
    return borrow<const T>(cx, cx::Borrows::Use::reads, site);
  }
  [[nodiscard]] Outcome<Borrowed<T>> write(CxOf<> cx,
                                           std::source_location site = std::source_location::current()) const {
    return borrow<T>(cx, cx::Borrows::Use::changes, site);
  }

  friend bool operator==(const RRef&, const RRef&) noexcept = default;

 private:
  template <class Access>
  Outcome<Borrowed<Access>> borrow(CxOf<> cx, cx::Borrows::Use use, std::source_location site) const {
    const cx::Context& context = cx::context_of(cx);
    if (context.root()->port().is_closed(region_)) return err(Errc::region_closed, "the scope of the object has ended");
    return ok(
        Borrowed<Access>(object_->value, cx::BorrowMark(context, object_->borrows, use, stays_within_a_poll<T>, site)));
  }

  RegionId region_;
  cx::RegionObject<T>* object_;
};

template <class T>
struct cx::Sendable<RRef<T>> : std::bool_constant<cx::is_sendable<T>> {};

/// Makes an object in the memory of the innermost scope; it is ended when that is Closed, newest first (REG-10).
/// Fails: region_closed, admission_limit, resource_exhausted; what the constructor throws.
template <class T, class... Arguments>
[[nodiscard]] Outcome<RRef<T>> make_in(CxOf<> cx, Arguments&&... arguments) {
  using Object = cx::RegionObject<T>;
  using Ending = kernel::RegionHeap::Ending;
  using Layout = kernel::RegionHeap::Layout<Object>;
  static_assert(std::is_nothrow_destructible_v<T>, "a region ends its objects without exceptions");
  cx::Port& port = cx::context_of(cx).root()->port();
  const RegionId region = cx.region();
  void* memory = nullptr;
  if (const Status status = port.begin_making(port.here(), region, Layout::bytes, Layout::align, memory); !status) {
    return err(status.error(), "no room in the memory of the scope");
  }
  Object* object = nullptr;
  try {
    object = ::new (static_cast<std::byte*>(memory) + Layout::offset) Object(std::forward<Arguments>(arguments)...);
  } catch (...) {
    port.end_making(port.here(), region, nullptr);
    throw;
  }
  auto* const ending = ::new (memory) Ending{
      nullptr, [](Ending& place) noexcept {
        std::launder(reinterpret_cast<Object*>(reinterpret_cast<std::byte*>(&place) + Layout::offset))->~Object();
      }};
  port.end_making(port.here(), region, ending);
  return ok(RRef<T>(region, *object));
}

}  // namespace calm
