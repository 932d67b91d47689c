// pinned.hpp — an object that belongs to one thread, and says so when it is touched on another.
// Laws:    GHO-1, TSK-4
// Threads: one at a time; transfer() moves it to another
// Cancel:  not applicable
#pragma once

#include <source_location>
#include <thread>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/kernel/finding.hpp"

namespace calm {

/// What a fiber owns that other threads must not touch. Debug builds and the lab watch it; elsewhere get() is free.
template <class T>
class Pinned {
 public:
  /// Belongs to the thread that makes it.
  explicit Pinned(T value, std::source_location made = std::source_location::current())
      : value_(std::move(value)), made_(made) {}
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  /// Gives: the object. On another thread that is reported, and in the lab fails the run.
  [[nodiscard]] T& get(CxOf<> cx, std::source_location site = std::source_location::current()) {
    const cx::TaskRoot& root = *cx::context_of(cx).root();
    if (root.port().has_ghosts() && std::this_thread::get_id() != home_) {
      root.port().report(root.worker(), {.kind = kernel::FindingKind::wrong_thread,
                                         .region = cx.region(),
                                         .task = root.id(),
                                         .site = site,
                                         .other_site = made_,
                                         .must_fail = true});
    }
    return value_;
  }

  /// From now on it belongs to the calling thread. Needs: the thread it belonged to is done with it.
  void transfer() noexcept { home_ = std::this_thread::get_id(); }

 private:
  T value_;
  std::thread::id home_ = std::this_thread::get_id();
  std::source_location made_;
};

template <class T>
inline constexpr bool stays_home<Pinned<T>> = true;

}  // namespace calm
