// frame.hpp — what every coroutine of a task has in common: its place in the chain, and what it waits for.
// Laws:    TSK-5, TSK-7, OUT-5
// Threads: a frame is touched by whoever polls its task
// Cancel:  a failure leaves the chain by a loop over these links, innermost frame first, without an exception
#pragma once

#include <concepts>
#include <coroutine>
#include <cstdint>
#include <source_location>
#include <utility>

#include "calm/model/fold.hpp"

namespace calm::combinator {
class Ticket;
}  // namespace calm::combinator

namespace calm::cx {

class Port;
class TaskRoot;
struct Frame;

/// What a suspended frame waits for; it lives in that frame. The one who unwinds asks it.
class Awaiter {
 public:
  Awaiter() noexcept = default;
  Awaiter(const Awaiter&) = delete;
  Awaiter& operator=(const Awaiter&) = delete;

  /// The frame below has been destroyed, or the wait has been given up: nothing of it may be touched any more.
  virtual void abandon() noexcept {}

  /// Gives: true when the frame wants to see failures; `end` has been moved from then and the frame is to be resumed.
  virtual bool deliver(ChildEnd& /*end*/) noexcept { return false; }

  /// Gives: the ticket of the branch that the frame below is the whole of; nullptr where it is none.
  [[nodiscard]] virtual combinator::Ticket* ticket() const noexcept { return nullptr; }

 protected:
  ~Awaiter() = default;
};

/// What a frame knows of what is around it: a FrameAwaiter, or for the outermost one the context of the task. That one lies in the
/// root itself, so it need not say where the root is, and says instead which port the root has.
class Above {
 public:
  Above(const Above&) = delete;
  Above& operator=(const Above&) = delete;

  /// Gives: the task it is in. Defined in task_root.hpp.
  [[nodiscard]] TaskRoot* root() const noexcept;
  /// Gives: true for the context of a task: what is in it is the outermost frame, and the root is around it.
  [[nodiscard]] bool is_in_root() const noexcept { return (word_ & port_bit) != 0; }

 protected:
  explicit Above(TaskRoot* root) noexcept : word_(reinterpret_cast<std::uintptr_t>(root)) {}
  /// In a root, which has this port.
  explicit Above(Port& port) noexcept : word_(reinterpret_cast<std::uintptr_t>(&port) | port_bit) {}
  ~Above() = default;

  /// Needs: is_in_root().
  [[nodiscard]] Port& port_of_root() const noexcept {
    return *reinterpret_cast<Port*>(word_ - port_bit);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }
  /// Needs: !is_in_root().
  [[nodiscard]] TaskRoot* root_elsewhere() const noexcept {
    return reinterpret_cast<TaskRoot*>(word_);  // NOLINT(performance-no-int-to-ptr): it was made from one
  }

 private:
  static constexpr std::uintptr_t port_bit = 1;  // that no address has
  std::uintptr_t word_;
};

/// What a frame that awaits another one waits for. It lives in the one and is known to the other, so no frame has room for an
/// await that it is not at: the wait of a leaf, and where that is, are known to the root.
class FrameAwaiter : public Awaiter, public Above {
 public:
  FrameAwaiter(Frame& its_frame, std::source_location its_site) noexcept;

  /// The same as Above::root(), which need not ask what this is.
  [[nodiscard]] TaskRoot* root() const noexcept { return root_elsewhere(); }

  Frame& frame;               ///< the one that awaits
  std::source_location site;  ///< where

 protected:
  ~FrameAwaiter() = default;
};

/// Base of every promise, and the first thing in it: where the promise lies, its coroutine is known.
struct Frame {
  Above* above = nullptr;  ///< from its start on; what awaits it, or the context of its task

  /// Gives: the task it runs in. Needs: it was started.
  [[nodiscard]] TaskRoot* root() const noexcept { return above->root(); }

  /// Gives: the coroutine that this is the promise of. Its place follows from the alignment of the promise alone,
  ///        which is that of a Frame for all of them (PromiseOfTask).
  [[nodiscard]] std::coroutine_handle<> coroutine() noexcept {
    return std::coroutine_handle<Frame>::from_promise(*this);
  }
};

inline FrameAwaiter::FrameAwaiter(Frame& its_frame, std::source_location its_site) noexcept
    : Above(its_frame.root()), frame(its_frame), site(its_site) {}

/// What makes Frame::coroutine() right for a promise.
template <class Promise>
concept PromiseOfTask = std::derived_from<Promise, Frame> && alignof(Promise) == alignof(Frame);

}  // namespace calm::cx
