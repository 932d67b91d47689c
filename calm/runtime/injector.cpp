#include "calm/runtime/injector.hpp"

#include "calm/cx/crew.hpp"

namespace calm::runtime {

/// A maker keeps the region from closing, and the frame of the scope with it: the crew is there. Whether
/// the region takes the task is decided as for any other.
Status admit_from_outside(cx::Port& port, kernel::Worker& worker, RegionId region, cx::Crew& crew,
                          cx::TaskRoot& shell) {
  void* no_memory = nullptr;
  const auto as_seen_outside = [](Status status) {
    const bool closing =
        status == Errc::region_not_open || status == Errc::region_closed || status == Errc::stale_handle;
    return closing ? Status(Errc::admission_closed) : status;
  };
  if (const Status pinned = port.begin_making(worker, region, 0, 1, no_memory); !pinned) return as_seen_outside(pinned);
  shell.join_crew(crew);
  crew.add(port);
  const auto made = port.spawn(worker, region, {.frame = &shell, .handle = false});
  if (!made) shell.leave_crew(worker);
  port.end_making(worker, region, nullptr);
  return as_seen_outside(made.status);
}

}  // namespace calm::runtime
