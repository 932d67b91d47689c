// finding.hpp — what the kernel noticed and somebody should know: leaks, broken masks, forced ends, stalls, ghosts.
// Laws:    OBL-4, OBL-5, OBL-6, CAN-8, CAN-12, REG-5, GHO-1, GHO-2
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/kernel/config.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"

namespace calm::kernel {

enum class FindingKind : std::uint8_t {
  leak,                 ///< a promise was forgotten (OBL-5, OBL-6); `obligation` and `site` unless it was a counted one
  dropped_token,        ///< a tracked token was dropped while Reserved (OBL-4)
  mask_too_deep,        ///< more than 64 masks in each other: all are taken off (CAN-12)
  mask_too_long,        ///< more than 1000 polls under one mask: it is taken off (CAN-12)
  forced,               ///< a clean-up budget ran out and the frame is dropped (CAN-8)
  stalled,              ///< a clean-up budget ran out and the task does not suspend, or is in a call (CAN-8)
  unresolved,           ///< a region closes over promises that were never kept: `count` of them (OBL-6)
  wrong_thread,         ///< a fiber or a pinned object was touched on another thread than its own (GHO-1)
  borrow_conflict,      ///< an object was borrowed to be changed while it was borrowed otherwise (GHO-2)
  borrow_across_await,  ///< a borrow was held across an await that its type forbids (GHO-2)
};

constexpr std::string_view to_string(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::leak:
      return "leak";
    case FindingKind::dropped_token:
      return "dropped token";
    case FindingKind::mask_too_deep:
      return "mask too deep";
    case FindingKind::mask_too_long:
      return "mask too long";
    case FindingKind::forced:
      return "forced";
    case FindingKind::stalled:
      return "stalled";
    case FindingKind::unresolved:
      return "unresolved";
    case FindingKind::wrong_thread:
      return "wrong thread";
    case FindingKind::borrow_conflict:
      return "borrow conflict";
    case FindingKind::borrow_across_await:
      return "borrow across await";
  }
  CALM_INVARIANT(OBL_6, false, static_cast<std::uint8_t>(kind));
  return {};
}

struct Finding {
  FindingKind kind;
  RegionId region{};
  TaskId task{};
  ObligationId obligation{};
  ObligationKind obligation_kind = ObligationKind::custom;
  std::uint64_t count = 1;
  Site site{};
  Site other_site{};       ///< of the other one that it takes two for
  bool in_call = false;    ///< of one that is stalled: it is suspended, and a call uses its frame
  bool must_fail = false;  ///< a lab or a strict configuration fails the run on it
};

/// Gives: for example `calm: o7 (ack) of r2 was leaked by t4, made at worker.cpp:71 [OBL-5]`.
std::string to_string(const Finding& finding);

}  // namespace calm::kernel
