// tracked.hpp — a bounded channel whose permits are promises with a record, and whose sends and aborts give proof.
// Laws:    CHN-9, OBL-1, OBL-4 (a permit that is dropped fails a run of the lab, with the place where it was reserved)
// Threads: the tasks of one runtime, on any of its workers; see sync/line.hpp
// Cancel:  a waiting reserve() leaves the line; what a cancelled task holds is aborted without a complaint
//
// A function that must send says so in its type: Task<CommittedProof> work(Cx, TrackedPermit<Order>) cannot end well
// without having sent, or having been given a proof by one who has.
#pragma once

#include <cstdint>
#include <source_location>
#include <utility>

#include "calm/channel/mpsc.hpp"
#include "calm/channel/permit.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/task.hpp"
#include "calm/model/id.hpp"

namespace calm::channel {

template <class T>
class TrackedPermit;

/// A promise was kept: which one. Only a send makes it.
class CommittedProof {
 public:
  [[nodiscard]] ObligationId promise() const noexcept { return promise_; }

 private:
  template <class T>
  friend class TrackedPermit;
  explicit CommittedProof(ObligationId promise) noexcept : promise_(promise) {}
  ObligationId promise_;
};

/// A promise was taken back: which one. Only an abort makes it.
class AbortedProof {
 public:
  [[nodiscard]] ObligationId promise() const noexcept { return promise_; }

 private:
  template <class T>
  friend class TrackedPermit;
  explicit AbortedProof(ObligationId promise) noexcept : promise_(promise) {}
  ObligationId promise_;
};

template <class T>
class [[nodiscard("a tracked permit is sent or aborted")]] TrackedPermit {
 public:
  /// Needs: the promise of the running task about this permit.
  TrackedPermit(CxOf<> cx, Permit<T> permit, Obligation promise) noexcept
      : permit_(std::move(permit)),
        promise_(std::move(promise)),
        port_(&cx::context_of(cx).root()->port()),
        holder_(cx.task()) {
    permit_.count_no_more();
  }
  TrackedPermit(TrackedPermit&& other) noexcept = default;
  TrackedPermit& operator=(TrackedPermit&& other) noexcept = default;
  /// Still open: aborted; that is a fault unless its task is cancelled (OBL-4).
  ~TrackedPermit() {
    if (promise_.id() && port_->is_cancel_requested(holder_)) (void)promise_.abort();
  }

  [[nodiscard]] ObligationId promise() const noexcept { return promise_.id(); }

  /// Sends. Gives: the proof. Fails: as Permit::send(); where the receiver has left, the promise is aborted.
  Outcome<CommittedProof, Unsent<T>> send(T value) && {
    const ObligationId promise = promise_.id();
    try {
      Sent<T> sent = std::move(permit_).send(std::move(value));
      if (!sent) {
        if (!permit_.is_open()) (void)promise_.abort();  // NOLINT(bugprone-use-after-move): a refused one stays
        return err(std::move(sent).error());
      }
    } catch (...) {
      (void)promise_.abort();
      throw;
    }
    (void)promise_.commit();
    return ok(CommittedProof(promise));
  }
  /// Gives: the proof. Fails: as Permit::abort().
  Outcome<AbortedProof> abort() && {
    const ObligationId promise = promise_.id();
    if (const Status status = std::move(permit_).abort(); !status) return err(status.error());
    (void)promise_.abort();
    return ok(AbortedProof(promise));
  }

 private:
  Permit<T> permit_;
  Obligation promise_;
  cx::Port* port_;
  TaskId holder_;
};

template <class T>
class TrackedSender {
 public:
  explicit TrackedSender(Sender<T> sender) noexcept : sender_(std::move(sender)) {}

  /// Waits for a place. Gives: a TrackedPermit. Fails: disconnected; as calm::reserve().
  [[nodiscard]] CALM_CORO_WRAPPER Task<TrackedPermit<T>> reserve(
      CxOf<> cx, std::source_location site = std::source_location::current()) const {
    return reserve_task(cx, sender_, site);
  }
  /// The same without waiting. Fails: disconnected; full; as calm::reserve().
  [[nodiscard]] Outcome<TrackedPermit<T>> try_reserve(
      CxOf<> cx, std::source_location site = std::source_location::current()) const {
    Outcome<Permit<T>> permit = sender_.try_reserve();
    if (!permit) return err(Error(permit.error()));
    return track(cx, std::move(permit).value(), site);
  }

  [[nodiscard]] bool is_closed() const noexcept { return sender_.is_closed(); }
  [[nodiscard]] Counts counts() const noexcept { return sender_.counts(); }

 private:
  static Outcome<TrackedPermit<T>> track(CxOf<> cx, Permit<T> permit, std::source_location site) {
    Outcome<Obligation> promise = calm::reserve(cx, ObligationKind::send_permit, permit.channel(), site);
    if (!promise) return err(Error(promise.error()));
    return ok(TrackedPermit<T>(cx, std::move(permit), std::move(promise).value()));
  }
  static Task<TrackedPermit<T>> reserve_task(CxOf<> cx, Sender<T> sender, std::source_location site) {
    Permit<T> permit = co_await sender.reserve(cx);
    co_return track(cx, std::move(permit), site);
  }

  Sender<T> sender_;
};

/// Both ends of a tracked channel.
template <class T>
struct TrackedMpsc {
  TrackedSender<T> sender;
  Receiver<T> receiver;
};

/// Makes a channel as mpsc() does, with tracked permits.
template <Message T>
[[nodiscard]] Outcome<TrackedMpsc<T>> tracked_mpsc(CxOf<> cx, std::uint32_t capacity) noexcept {
  Outcome<Mpsc<T>> made = mpsc<T>(cx, capacity);
  if (!made) return err(Error(made.error()));
  Mpsc<T> ends = std::move(made).value();
  return ok(TrackedMpsc<T>{TrackedSender<T>(std::move(ends.sender)), std::move(ends.receiver)});
}

}  // namespace calm::channel

template <class T>
inline constexpr bool calm::stays_home<calm::channel::TrackedPermit<T>> = true;
