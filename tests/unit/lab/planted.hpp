// planted.hpp — waits with bugs in them, for oracles that must find the bugs: a gate that may forget to wake, a lock, an
// alarm that goes off early.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/id.hpp"

namespace calm::planted {

/// Tasks wait until it is open.
struct Gate {
  std::uint32_t number = 1;  ///< as a resource
  bool is_open = false;
  TaskId waiter{};

  void open(Cx cx) {
    open_and_forget();
    cx::TaskRoot& root = *cx::context_of(cx).root();
    (void)root.port().wake(root.worker(), waiter);
  }
  /// The bug: nobody is woken.
  void open_and_forget() noexcept { is_open = true; }
};

class GateWait : public cx::Wait {
 public:
  GateWait(const cx::Context* context, Gate* gate) noexcept : Wait(context), gate_(*gate) {}
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& /*end*/) noexcept override {
    if (gate_.is_open) return cx::WaitState::ready;
    gate_.waiter = root.id();
    return cx::WaitState::pending;
  }
  [[nodiscard]] trace::ResourceId resource() const noexcept override {
    return trace::ResourceId::registered(gate_.number);
  }
  static void result() noexcept {}

 protected:
  ~GateWait() = default;

 private:
  Gate& gate_;
};

inline auto pass(Cx cx, Gate& gate) noexcept {
  return cx::WaitFor<GateWait, const cx::Context*, Gate*>(&cx::context_of(cx), &gate);
}

/// A lock without a queue; who holds it has promised to let it go.
struct Lock {
  std::uint32_t number = 1;
  std::optional<ObligationId> promise{};
  std::deque<TaskId> line{};

  void unlock(Cx cx) {
    cx::TaskRoot& root = *cx::context_of(cx).root();
    (void)root.port().resolve(root.worker(), *promise, ObligationState::committed);
    promise.reset();
    for (const TaskId task : line) (void)root.port().wake(root.worker(), task);
    line.clear();
  }
};

class LockWait : public cx::Wait {
 public:
  LockWait(const cx::Context* context, Lock* lock, kernel::Site site) noexcept
      : Wait(context), lock_(*lock), site_(site) {}
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& end) noexcept override {
    if (lock_.promise) {
      lock_.line.push_back(root.id());
      return cx::WaitState::pending;
    }
    const auto made = root.port().reserve(
        root.worker(), root.region(),
        {.kind = ObligationKind::custom, .holder = root.id(), .resource = resource(), .site = site_});
    if (!made) {
      end = err(Error(made.status.error()));
      return cx::WaitState::failed;
    }
    lock_.promise = made.id;
    return cx::WaitState::ready;
  }
  [[nodiscard]] trace::ResourceId resource() const noexcept override {
    return trace::ResourceId::registered(lock_.number);
  }
  static void result() noexcept {}

 protected:
  ~LockWait() = default;

 private:
  Lock& lock_;
  kernel::Site site_;
};

inline auto lock(Cx cx, Lock& lock, kernel::Site site = kernel::Site::current()) noexcept {
  return cx::WaitFor<LockWait, const cx::Context*, Lock*, kernel::Site>(&cx::context_of(cx), &lock, site);
}

/// Sleeps until a time; the bug: its alarm is armed anew for an earlier one and keeps the number of its first arming.
class HastyWait : public cx::Wait {
 public:
  HastyWait(const cx::Context* context, Time until) noexcept : Wait(context), until_(until) {}
  cx::WaitState step(cx::TaskRoot& root, ChildEnd& /*end*/) noexcept override {
    if (armed_) return cx::WaitState::ready;
    armed_ = true;
    alarm_.at = until_;
    alarm_.task = root.id();
    (void)root.port().arm(root.worker(), alarm_, clock::Beyond::refuse);
    const std::uint64_t first = alarm_.sequence;
    root.port().disarm(root.worker(), alarm_);
    alarm_.at = Time() + Duration::milliseconds(1);
    (void)root.port().arm(root.worker(), alarm_, clock::Beyond::refuse);
    alarm_.sequence = first;
    return cx::WaitState::pending;
  }
  static void result() noexcept {}

 protected:
  ~HastyWait() {
    if (alarm_.is_armed()) context()->root()->port().disarm(context()->root()->worker(), alarm_);
  }

 private:
  Time until_;
  clock::Alarm alarm_;
  bool armed_ = false;
};

inline auto sleep_badly(Cx cx, Time until) noexcept {
  return cx::WaitFor<HastyWait, const cx::Context*, Time>(&cx::context_of(cx), until);
}

}  // namespace calm::planted
