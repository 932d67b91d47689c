#include "calm/runtime/injector.hpp"

#include "calm/cx/crew.hpp"

namespace calm::runtime {

Reason reason_of_end(const cx::TaskRoot& task) {
  cx::Port& port = task.port();
  Reason reason = port.reason_of(port.here(), task.id());
  return reason ? reason : Reason({.kind = CancelKind::parent_cancelled});
}

/// A maker keeps the region from closing, and the frame of the scope with it: the crew is there. Whether
/// the region takes the task is decided as for any other.
Status admit_from_outside(const OutsidePlace& place, kernel::Worker& worker, cx::TaskRoot& shell) {
  cx::Port& port = place.port;
  void* no_memory = nullptr;
  const auto as_seen_outside = [](Status status) {
    const bool closing =
        status == Errc::region_not_open || status == Errc::region_closed || status == Errc::stale_handle;
    return closing ? Status(Errc::admission_closed) : status;
  };
  if (const Status pinned = port.begin_making(worker, place.region, 0, 1, no_memory); !pinned)
    return as_seen_outside(pinned);
  shell.join_crew(place.crew);
  place.crew.add(port);
  const auto made =
      port.spawn(worker, place.region, {.budget = place.options.budget, .frame = &shell, .handle = false});
  if (!made) shell.leave_crew(worker);
  port.end_making(worker, place.region, nullptr);
  return as_seen_outside(made.status);
}

}  // namespace calm::runtime
