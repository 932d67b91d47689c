#include "calm/lab/task_program.hpp"

#include <span>
#include <stdexcept>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/lab/names.hpp"

namespace calm::lab {
namespace {

using explore::Process;
using explore::ProcessSet;

constexpr Process clock_process = TaskFootprint::clock_process;

const cx::TaskRoot* root_of(const World& world, TaskId task) noexcept {
  const auto* const record = world.kernel().find(task);
  const bool alive = record != nullptr && world.kernel().state(task) != TaskState::completed;
  return alive ? static_cast<const cx::TaskRoot*>(record->frame) : nullptr;
}

}  // namespace

TaskProgram::TaskProgram(const LabConfig& config, lab::Program& program, Check check, bool plain_memory)
    : config_(config), program_(program), check_(std::move(check)), footprint_(config.explore_time, plain_memory) {
  CALM_REQUIRE(LAB_5, config.faults == Faults() && !config.choices);
}

TaskProgram::~TaskProgram() { leave(); }

void TaskProgram::leave() noexcept {
  if (world_) world_->abandon();
  clear();
}

/// What the run has made ends here, not when the next one begins.
void TaskProgram::clear() noexcept {
  if (!world_) return;
  world_.reset();
  if (!ground_->start_over()) ground_.reset();
}

void TaskProgram::restart() {
  leave();
  if (!ground_) ground_ = std::make_unique<Ground>(config_.kernel);
  world_ = std::make_unique<World>(config_, *ground_, Watching{.touches = &footprint_});
  world_->begin(program_);
  footprint_.restart(world_->main(), world_->kernel().root());
  step_events_.clear();
  yielded_ = {};
  yielded_[TaskFootprint::main_process] = true;  // nobody spawned it
}

ProcessSet TaskProgram::enabled() {
  ProcessSet set;
  if (!world_) return set;
  for (const Ready& entry : world_->ready()) set.add(footprint_.process_of(entry.task));
  if (world_->choices() > world_->ready().size()) set.add(clock_process);
  return set;
}

explore::StepKind TaskProgram::step(Process process, explore::Footprint& touched) {
  const std::deque<Ready>& ready = world_->ready();
  std::uint32_t choice = 0;
  if (process == clock_process) {
    choice = static_cast<std::uint32_t>(ready.size());
    footprint_.begin_clock(touched);
  } else {
    while (choice < ready.size() && footprint_.process_of(ready[choice].task) != process) ++choice;
    if (choice == ready.size()) throw std::logic_error("calm: " + name_of(process) + " cannot run here [LAB-5]");
    const auto budget = world_->kernel().budget_of(ready[choice].task);
    footprint_.begin_poll(process, budget && !budget->deadline.is_none(), touched);
  }
  const std::optional<std::uint32_t> before = awaits_of(process);
  const std::uint64_t recorded = world_->recorded();
  world_->take(choice);
  if (before && awaits_of(process) == before) footprint_.was_forced();
  step_events_.clear();
  world_->copy_events(recorded, step_events_);
  footprint_.end_step(step_events_);
  if (process == clock_process) return config_.explore_time ? explore::StepKind::free : explore::StepKind::last;
  // Who did not wake itself was woken.
  const bool woken = !std::exchange(yielded_[process], is_ready(process));
  return woken ? explore::StepKind::woken : explore::StepKind::free;
}

bool TaskProgram::is_ready(Process process) const noexcept {
  for (const Ready& entry : world_->ready()) {
    if (footprint_.process_of(entry.task) == process) return true;
  }
  return false;
}

/// Gives: another number when the frames of the task have run; nothing when it has not begun, or has ended.
std::optional<std::uint32_t> TaskProgram::awaits_of(Process process) const noexcept {
  const cx::TaskRoot* const root = process == clock_process ? nullptr : root_of(*world_, footprint_.task_of(process));
  if (root == nullptr || !root->was_polled()) return std::nullopt;
  return root->awaits();
}

ProcessSet TaskProgram::blocked() {
  ProcessSet set;
  if (!world_) return set;
  const ProcessSet runnable = enabled();
  for (std::uint64_t left = footprint_.processes().bits(); left != 0; left &= left - 1) {
    const auto process = static_cast<Process>(std::countr_zero(left));
    const cx::TaskRoot* const root = root_of(*world_, footprint_.task_of(process));
    // A finalizer that has not begun waits for its region, not for a turn.
    if (root == nullptr || runnable.has(process) || !root->was_polled()) continue;
    set.add(process);
    pending_[process].clear();
    footprint_.pending(process, root->await_point().resource, pending_[process]);
  }
  return set;
}

/// What was armed may have been taken back before the clock had a turn.
ProcessSet TaskProgram::idle() {
  ProcessSet set;
  if (config_.explore_time) set.add(clock_process);
  return set;
}

void TaskProgram::pending(Process process, explore::Footprint& touched) {
  if (process == clock_process) {
    TaskFootprint::pending_clock(touched);
    return;
  }
  const explore::Footprint& would_touch = pending_[process];
  for (std::uint32_t i = 0; i < would_touch.size(); ++i) touched.add(would_touch[i]);
}

std::string TaskProgram::problem(bool /*deadlock*/) {
  report_ = world_->finish();
  clear();
  if (check_) {
    if (std::string text = check_(report_); !text.empty()) report_.problems.push_back({Oracle::check, std::move(text)});
  }
  std::string text;
  for (const Problem& problem : report_.problems) text += (text.empty() ? "" : "\n") + problem.text;
  return text;
}

std::span<const trace::Event> TaskProgram::step_events() { return step_events_; }

std::string TaskProgram::place_of(Process process) {
  if (process == clock_process) return {};
  const cx::TaskRoot* const root = root_of(*world_, footprint_.task_of(process));
  return root == nullptr ? std::string() : place_text(user_site(*root));
}

std::string TaskProgram::name_of(Process process) {
  if (process == clock_process) return "the clock";
  std::string& name = names_[process];
  if (name.empty() && world_ && footprint_.processes().has(process)) {
    if (const cx::TaskRoot* const root = root_of(*world_, footprint_.task_of(process))) name = task_name(*root);
  }
  if (!name.empty()) return name;
  return process == TaskFootprint::main_process ? "main" : "task " + std::to_string(process);
}

}  // namespace calm::lab
