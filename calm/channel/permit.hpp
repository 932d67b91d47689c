// permit.hpp — a place in a channel that is yours: sending into it cannot wait and cannot be cancelled.
// Laws:    CHN-3, CHN-8, I4, OBL-2 (counted for its task, without a record), OBL-4
// Threads: used by the task that reserved it, on whichever worker that is; its end may come anywhere
// Cancel:  none of it waits; dropped, it gives its place to the next in line
#pragma once

#include <utility>

#include "calm/channel/hold.hpp"
#include "calm/channel/pipe.hpp"
#include "calm/channel/unsent.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"

namespace calm::channel {

template <class T>
class [[nodiscard("a permit that is dropped gives its place back")]] Permit {
 public:
  using Place = typename Pipe<T>::Place;

  /// Needs: a place that is promised; the running task is its holder from now on.
  Permit(Hold<Pipe<T>> pipe, Place place) noexcept
      : pipe_(std::move(pipe)),
        place_(place),
        holder_(line().running()),
        counted_(line().port(), ObligationKind::send_permit) {}
  Permit(Permit&& other) noexcept = default;
  Permit& operator=(Permit&& other) noexcept {
    std::swap(pipe_, other.pipe_);
    std::swap(place_, other.place_);
    std::swap(holder_, other.holder_);
    std::swap(counted_, other.counted_);
    return *this;
  }
  /// Not used: the place is free for the next.
  ~Permit() {
    if (!pipe_) return;
    settle();
    pipe_->abort(place_);
  }

  /// For permits with a record: the promise is kept account of there.
  void count_no_more() noexcept { settle(); }
  /// Gives: what the channel is called in footprints. Needs: open.
  [[nodiscard]] trace::ResourceId channel() const noexcept { return line().resource(); }
  /// Gives: true until it was sent, aborted or moved from.
  [[nodiscard]] bool is_open() const noexcept { return bool(pipe_); }

  /// Sends. Once: the permit is spent with it.
  /// Fails: disconnected when the receiver has left since; obligation_already_resolved for a permit that is spent;
  ///        invalid_argument in another task than the one that reserved it, and the permit stays good. The value comes back
  ///        each time.
  Sent<T> send(T value) && {
    if (const Status status = usable(); !status) return unsent(status.error(), std::move(value));
    const Hold<Pipe<T>> pipe = spend();
    return pipe->commit(place_, std::move(value));
  }
  /// Takes the promise back. Fails: as send().
  Status abort() && {
    if (const Status status = usable(); !status) return status;
    const Hold<Pipe<T>> pipe = spend();
    pipe->abort(place_);
    return {};
  }

 private:
  [[nodiscard]] sync::Line& line() const noexcept { return pipe_->intake().line(); }
  [[nodiscard]] Status usable() const noexcept {
    if (!pipe_) return Errc::obligation_already_resolved;
    return line().running() == holder_ ? Status() : Status(Errc::invalid_argument);
  }
  void settle() noexcept { counted_.settle(line().port(), ObligationKind::send_permit); }
  [[nodiscard]] Hold<Pipe<T>> spend() noexcept {
    settle();
    return std::move(pipe_);
  }

  Hold<Pipe<T>> pipe_;
  Place place_;
  TaskId holder_;
  sync::Counted counted_;
};

}  // namespace calm::channel

/// A permit is of the task that reserved it: spawn() does not take one along.
template <class T>
inline constexpr bool calm::stays_home<calm::channel::Permit<T>> = true;
