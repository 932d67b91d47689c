// channel_bench.hpp — what the tests of channels share: a cancel of oneself, and a look at what a task has promised.
// Laws:    none of its own
// Threads: one
// Cancel:  cancel_myself() asks for one, seen at the next await point
#pragma once

#include <cstdint>

#include "calm/channel/slots.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/model/obligation_kind.hpp"
#include "tests/law/program_bench.hpp"

namespace calm::channel {

/// The task that calls it is cancelled at its next await point, wherever that is.
inline void cancel_myself(CxOf<> cx) {
  const cx::TaskRoot& root = *cx::context_of(cx).root;
  (void)root.port().request_cancel(root.worker(), root.id(), {.message = "by itself"});
}

/// Lets everybody else go on until they wait: time passes only when nobody can run.
inline auto settle(Cx cx) { return sleep(cx, Duration::nanoseconds(1)); }

/// Gives: how many send permits the task has open, as the kernel counts them (OBL-2). Needs: it has suspended since.
inline std::uint32_t permits_of(Cx cx) {
  const kernel::Snapshot snapshot = look(cx);
  const kernel::TaskView* const task = snapshot.find(cx.task());
  for (std::size_t i = 0; task != nullptr && i < kernel::counted_kind_count; ++i) {
    if (kernel::counted_kinds[i] == ObligationKind::send_permit) return task->counted[i];
  }
  return 0;
}

}  // namespace calm::channel
