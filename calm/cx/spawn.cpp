#include "calm/cx/spawn.hpp"

#include "calm/cx/crew.hpp"
#include "calm/cx/port.hpp"

namespace calm::cx {

kernel::Made<TaskId> admit(const Context& context, Crew* crew, TaskRoot& shell, const TaskOptions& options) {
  TaskRoot& spawner = *context.root;
  Port& port = spawner.port();
  shell.set_name(options.name);
  if (crew != nullptr) {
    shell.join_crew(*crew);
    crew->add(port);
  }
  // If it is admitted, that is after the stamp was read.
  if (port.is_quick()) {
    const std::uint64_t stamp = port.cancel_stamp();
    if (!port.is_walking()) shell.found_quiet(stamp);
  }
  // Who follows a run asks the kernel for tasks that have ended, as long as they have a handle.
  const bool narrow = spawner.has_limits();
  const auto made = port.spawn(spawner.worker(), context.region,
                               {.budget = narrow ? meet(options.budget, context.narrowed()) : options.budget,
                                .spawner = spawner.id(),
                                .frame = &shell,
                                .handle = !port.is_quick()});
  if (!made) {
    shell.drop(spawner.worker(), {});
    shell.leave_crew(spawner.worker());
  }
  return made;
}

Crew* crew_of(const Context& context) noexcept {
  const TaskRoot& root = *context.root;
  for (const OpenScope* scope = root.innermost_scope(); scope != nullptr; scope = Fixture::outer(*scope)) {
    if (scope->region == context.region) return scope->crew;
  }
  return root.crew();
}

}  // namespace calm::cx
