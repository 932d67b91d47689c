#include "calm/cx/spawn.hpp"

#include "calm/cx/crew.hpp"
#include "calm/cx/port.hpp"

namespace calm::cx {

Status Port::admit(const Context& context, Crew* crew, TaskRoot& shell, const TaskOptions* options) {
  TaskRoot& spawner = *context.root();
  if (crew != nullptr) {
    shell.join_crew(*crew);
    crew->add(*this);
  }
  // If it is admitted, that is after the stamp was read.
  if (is_quick()) {
    const std::uint64_t stamp = cancel_stamp();
    if (!is_walking()) shell.found_quiet(stamp);
  }
  Budget budget = spawner.has_limits() ? context.narrowed() : Budget::infinite();
  if (options != nullptr) budget = meet(options->budget, budget);
  // Who follows a run asks the kernel for tasks that have ended, as long as they have a handle.
  const auto made = spawn(spawner.worker(), context.region(),
                          {.budget = budget, .spawner = spawner.id(), .frame = &shell, .handle = !is_quick()});
  if (made) {
    shell.set_id(made.id);
  } else {
    shell.drop(spawner.worker(), {});
    shell.leave_crew(spawner.worker());
  }
  return made.status;
}

Crew* crew_among_scopes(const Context& context) noexcept {
  const TaskRoot& root = *context.root();
  const RegionId region = context.region();
  for (const OpenScope* scope = root.innermost_scope(); scope != nullptr; scope = Fixture::outer(*scope)) {
    if (scope->region == region) return scope->crew;
  }
  return root.crew();
}

}  // namespace calm::cx
