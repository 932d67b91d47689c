#include "calm/time/timeout.hpp"

namespace calm::time {

bool tells_of_lateness(const Reason& reason) noexcept {
  for (const ReasonLevel& level : reason.levels()) {
    if (level.kind == CancelKind::timeout || level.kind == CancelKind::deadline) return true;
  }
  return false;
}

bool tells_of_lateness(const Reason& reason, Time until) noexcept {
  for (const ReasonLevel& level : reason.levels()) {
    if ((level.kind == CancelKind::timeout || level.kind == CancelKind::deadline) && level.at >= until) return true;
  }
  return false;
}

}  // namespace calm::time
