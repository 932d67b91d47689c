#include "apps/calm/scenario/world.hpp"

#include <algorithm>
#include <utility>

#include "apps/calm/scenario/schema.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

kernel::Config config_for(const ConfigWish& wish, const kernel::Profile& profile) {
  kernel::Config config = with_profile(kernel::Config(), profile);
  config.root_limits = wish.root_limits;
  config.root_budget = wish.root_budget;
  config.leaks = wish.leaks;
  config.strict_tokens = wish.strict_tokens;
  config.trace_when_full = wish.trace_when_full;
  config.trace_capacity = wish.trace_capacity.value_or(config.trace_capacity);
  config.ceilings.regions = wish.regions.value_or(config.ceilings.regions);
  config.ceilings.tasks = wish.tasks.value_or(config.ceilings.tasks);
  config.ceilings.obligations = wish.obligations.value_or(config.ceilings.obligations);
  return config;
}

std::unique_ptr<World::Kernel> make_kernel(const Scenario& scenario, const kernel::Profile& profile,
                                           ScenarioHost& host) {
  auto made = World::Kernel::make(config_for(scenario.config, profile), host);
  if (!made) throw Problem(scenario.place, "no kernel can be made of this configuration: " + to_string(made.error()));
  return std::move(made).value();
}

template <class Map>
typename Map::mapped_type find_in(const Map& map, std::string_view name) {
  const auto found = map.find(name);
  return found == map.end() ? typename Map::mapped_type() : found->second;
}

template <class Map>
std::string name_in(const Map& map, typename Map::mapped_type id) {
  if (!id) return "none";
  for (const auto& [name, named] : map) {
    if (named == id) return name;
  }
  return calm::to_string(id);
}

}  // namespace

World::World(const Scenario& scenario, const kernel::Profile& profile)
    : host_(scenario.config.coalescing, scenario.config.timers.value_or(UINT64_MAX)),
      kernel_(make_kernel(scenario, profile, host_)),
      port_(*kernel_, host_) {
  add("root", kernel_->root());
}

World::~World() {
  for (auto program = programs_.rbegin(); program != programs_.rend(); ++program) (*program)->drop();
  places.clear();
  deliveries.clear();
  channels.clear();
}

Program* World::program(TaskId task) const {
  for (const auto& program : programs_) {
    if (task && program->task() == task && kernel_->state(task) != TaskState::completed) return program.get();
  }
  return nullptr;
}

RegionId World::region(std::string_view name) const { return find_in(regions_, name); }
TaskId World::task(std::string_view name) const { return find_in(tasks_, name); }
ObligationId World::obligation(std::string_view name) const { return find_in(obligations_, name); }
RegionId World::region_in(const Step& step, std::string_view key) const { return region(step.text(key)); }
TaskId World::task_in(const Step& step, std::string_view key) const { return task(step.text(key)); }

kernel::Holder World::holder_in(const Step& step, std::string_view key) const {
  const std::string_view holder = step.text(key);
  if (holder == "reactor") return {kernel::Service::reactor, task_in(step, "whose")};
  if (holder == "lease keeper") return {kernel::Service::lease_keeper, task_in(step, "whose")};
  return {task(holder)};
}

std::string World::new_name(const Step& step) const {
  return repetition_ == 0 ? step.subject.text : step.subject.text + std::to_string(repetition_);
}

std::string World::name_of(RegionId id) const { return name_in(regions_, id); }
std::string World::name_of(TaskId id) const { return name_in(tasks_, id); }
std::string World::name_of(ObligationId id) const { return name_in(obligations_, id); }

void World::expect(const Step& step, std::string_view key, const std::string& found) {
  const Field* field = step.find(key);
  if (field != nullptr && field->text != found) differ(step, key, field->text, found);
}

void World::expect(const Step& step, std::string_view key, bool found) {
  expect(step, key, std::string(found ? "true" : "false"));
}

void World::expect(const Step& step, std::string_view key, std::uint64_t found) {
  expect(step, key, std::to_string(found));
}

void World::expect_subject(const Step& step, const std::string& found) {
  if (step.subject.text != found) differ(step, {}, step.subject.text, found);
}

void World::differ(const Step& step, std::string_view what, std::string expected, std::string found) {
  std::string text(step.row->verb);
  if (!what.empty()) text.append(" ").append(quoted(step.subject.text)).append(", ").append(what);
  differences_.push_back({step.place, text, std::move(expected), std::move(found)});
}

void World::demand_poll(const Step& step, TaskId task) const {
  if (polled_.find(task) != polled_.end()) return;
  throw Problem(step.place, std::string(step.row->verb) + " needs the poll of " + quoted(step.subject.text) +
                                ", which is not being polled; begin_poll comes first");
}

void World::demand_no_worker(const Step& step) const {
  if (!host_.worker) return;
  throw Problem(step.place,
                std::string(step.row->verb) + " polls a task, but a worker dispatches; dispatch lets it poll");
}

void World::keep_trace() {
  const std::uint64_t kept = trace_.events.empty() ? 0 : trace_.events.back().sequence;
  if (worker().recorder().last() - kept > worker().ring().capacity() / 4) read_trace();
}

void World::read_trace() {
  const std::uint64_t kept = trace_.events.empty() ? 0 : trace_.events.back().sequence;
  const trace::Trace now = kernel_->trace().value();
  const auto older = [](std::uint64_t sequence, const trace::Event& event) { return sequence < event.sequence; };
  trace_.overwritten = now.overwritten;
  trace_.events.insert(trace_.events.end(), std::upper_bound(now.events.begin(), now.events.end(), kept, older),
                       now.events.end());
}

}  // namespace calm::scenario
