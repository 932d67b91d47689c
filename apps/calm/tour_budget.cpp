#include <fmt/format.h>

#include "apps/calm/commands.hpp"
#include "calm/model/budget.hpp"
#include "calm/model/tropical.hpp"

namespace calm::tool {

void show_budget_meet() {
  fmt::print("\n3. A budget only ever tightens (BUD-2, BUD-4, BUD-7)\n\n");
  const Budget parent{.deadline = Time() + Duration::seconds(2), .polls = Quota(1000), .priority = 10};
  const Budget asked{.deadline = Time() + Duration::seconds(30), .polls = Quota(50), .cost = Quota(700), .priority = 5};
  Budget child = child_budget(parent, asked);
  fmt::print("  the parent has left  {}\n  a child asks for     {}\n  and gets the meet    {}\n", to_string(parent),
             to_string(asked), to_string(child));

  const Status taken = child.take(1, 900);
  fmt::print("  taking cost 900 says {}, and nothing has changed: cost {} still\n", to_string(taken),
             to_string(child.cost));

  const TimeSpan fetch(Duration::milliseconds(300));
  const TimeSpan parse(Duration::milliseconds(40));
  const TimeSpan cache(Duration::milliseconds(20));
  fmt::print("  fetch then parse, beside the cache: critical path {}\n",
             to_string(beside(then(fetch, parse), cache).length()));
}

}  // namespace calm::tool
