#include <fmt/format.h>

#include "apps/calm/commands.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/reason.hpp"

namespace calm::tool {

void show_cancel_chain() {
  fmt::print("\n2. A cancellation explains itself (CAN-2, CAN-4, CAN-5)\n\n");
  const RegionId root(0, Generation());
  const RegionId server(1, Generation());
  const TaskId signals(4, Generation());
  const Time now = Time() + Duration::milliseconds(1500);

  const Reason shutdown({.kind = CancelKind::shutdown,
                         .region = root,
                         .task = signals,
                         .at = now,
                         .message = "SIGTERM from the operator"});
  const Reason in_server(parent_cancelled(shutdown, root, now));
  const Reason in_request(parent_cancelled(in_server, server, now));
  const Outcome<int> request = cancelled(in_request);
  fmt::print("A request two regions below the root was running when the node shut down. Its outcome:\n\n{}\n",
             request.explain());

  const Reason timeout({.kind = CancelKind::timeout, .region = server, .at = now, .message = "no answer in 500ms"});
  const Reason both = strengthen(timeout, in_request);
  fmt::print(
      "\nIt had timed out as well. Strengthening keeps the more severe story ({}, severity {}), whichever came first.\n",
      to_string(both.kind()), both.severity());
}

}  // namespace calm::tool
