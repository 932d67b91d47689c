#include "calm/lab/task_footprint.hpp"

#include <stdexcept>
#include <string>

#include "calm/check/require.hpp"
#include "calm/trace/argument.hpp"

namespace calm::lab {
namespace {

constexpr std::uint32_t number_bits = 22;
constexpr std::uint32_t process_bits = 6;
static_assert(1U << process_bits == explore::process_max);

// Numbers of Kind::other under the clock's name.
constexpr std::uint32_t clock_number = 0;
constexpr std::uint32_t entropy_number = 1;
constexpr std::uint32_t memory_number = 2;
constexpr std::uint32_t first_named = 3;

/// A cancellation that a task brought on itself: its region may fail by it.
constexpr bool is_own(CancelKind kind) noexcept {
  return kind == CancelKind::timeout || kind == CancelKind::deadline || kind == CancelKind::poll_quota ||
         kind == CancelKind::cost_budget;
}

}  // namespace

// --- names ---

explore::Location TaskFootprint::location(Kind kind, Process process, std::uint32_t number) {
  CALM_REQUIRE(LAB_4, number < 1U << number_bits, number);
  return static_cast<std::uint32_t>(kind) << (number_bits + process_bits) | std::uint32_t{process} << number_bits |
         number;
}

void TaskFootprint::restart(TaskId main, RegionId root) {
  tasks_ = {};
  processes_ = {};
  regions_.clear();
  promises_.clear();
  objects_.clear();
  running_ = nobody;
  touched_ = nullptr;
  tasks_[main_process].id = main;
  tasks_[main_process].region = root;
  processes_.add(main_process);
  regions_.push_back({.id = root, .maker = clock_process});
}

explore::Process TaskFootprint::process_of(TaskId task) const noexcept {
  for (std::uint64_t left = processes_.bits(); left != 0; left &= left - 1) {
    const auto process = static_cast<Process>(std::countr_zero(left));
    if (tasks_[process].id == task) return process;
  }
  return nobody;
}

explore::Process TaskFootprint::child_of(Process parent, std::uint32_t number) {
  std::vector<Process>& children = children_[parent];
  if (number >= children.size()) {
    if (known_ == clock_process) return nobody;
    children.push_back(known_++);
  }
  return children[number];
}

TaskFootprint::RegionEntry* TaskFootprint::find(RegionId region) noexcept {
  for (RegionEntry& entry : regions_) {
    if (entry.id == region) return &entry;
  }
  return nullptr;
}

const TaskFootprint::Made* TaskFootprint::find(const std::vector<Made>& made, std::uint64_t bits) const noexcept {
  for (const Made& one : made) {
    if (one.bits == bits) return &one;
  }
  return nullptr;
}

/// Gives: the place of an object with a number, or of one that is known by its name in every run.
explore::Location TaskFootprint::location_of(trace::ResourceId resource) {
  if (const Made* const object = find(objects_, resource.bits())) return object->location;
  const auto number = static_cast<std::uint32_t>(first_named + named_.size());
  return location(Kind::other, clock_process, named_.try_emplace(resource, number).first->second);
}

// --- steps ---

void TaskFootprint::begin_poll(Process process, bool deadline, explore::Footprint& touched) {
  running_ = process;
  touched_ = &touched;
  TaskEntry& task = tasks_[process];
  write(location(Kind::run, process));
  if (!explore_time_ || deadline) looked_at_time();
  if (plain_memory_) write(location(Kind::other, clock_process, memory_number));
  if (task.finalizer && !task.polled) {
    if (RegionEntry* const region = find(task.region)) write(of(Kind::left, *region));
  }
  task.polled = true;
}

void TaskFootprint::was_forced() {
  for (const RegionEntry& region : regions_) {
    if (region.owner == running_ && !region.released) touch_cancel(region.id);
  }
}

void TaskFootprint::begin_clock(explore::Footprint& touched) {
  running_ = clock_process;
  touched_ = &touched;
  write(location(Kind::other, clock_process, clock_number));
}

void TaskFootprint::end_step(std::span<const trace::Event> events) {
  for (const trace::Event& event : events) take(event);
  touched_ = nullptr;
  running_ = nobody;
  if (!crowded_) return;
  throw std::length_error("calm: the program has more than " + std::to_string(clock_process) +
                          " tasks in all its runs, too many to explore [LAB-5]\n  next: explore a smaller one, or run "
                          "this one with many seeds");
}

void TaskFootprint::take(const trace::Event& event) {
  switch (event.kind) {
    case trace::EventKind::cancel_request:
      if (event.task) {
        cancelled(event.task);
      } else {
        cancelled(event.region);
      }
      return;
    case trace::EventKind::region_move: {
      // What follows from the last one leaving is seen by those who look who is there.
      const auto move = trace::region_move_in(event.argument);
      RegionEntry* const region = find(event.region);
      if (region != nullptr && move && move->to == RegionState::closing) {
        write(of(Kind::open, *region));
        write(of(Kind::left, *region));
      }
      return;
    }
    case trace::EventKind::complete:
    case trace::EventKind::cancel_done:
      take_end(event);
      return;
    case trace::EventKind::resolve:
      if (!event.task) return;  // lost with its region, whoever left that last
      if (const Made* const promise = find(promises_, event.resource.bits())) {
        write(promise->location);
        if (RegionEntry* const region = find(promise->region)) leave(*region);
      }
      return;
    case trace::EventKind::access:
    case trace::EventKind::channel:
    case trace::EventKind::io:
      take_access(event);
      return;
    case trace::EventKind::forced:
      was_forced();
      return;
    case trace::EventKind::spawn:
    case trace::EventKind::poll:
    case trace::EventKind::cancel_ack:
    case trace::EventKind::reserve:
    case trace::EventKind::finalize:
    case trace::EventKind::timer:
    case trace::EventKind::choice:
    case trace::EventKind::mark:
      return;
  }
}

void TaskFootprint::take_access(const trace::Event& event) {
  if (event.access == trace::Access::none) return;
  if (event.resource.is_registered()) {
    const Location place = location_of(event.resource);
    if (event.access == trace::Access::write) {
      write(place);
    } else {
      read(place);
    }
  } else if (RegionEntry* const region = find(RegionId::from_bits(event.resource.bits()))) {
    write(of(Kind::left, *region));  // who waits for a region
  } else if (const Process process = process_of(TaskId::from_bits(event.resource.bits())); process != nobody) {
    read(location(Kind::end, process));
  } else if (const Made* const promise = find(promises_, event.resource.bits())) {
    read(promise->location);
  }
}

void TaskFootprint::take_end(const trace::Event& event) {
  const Process process = process_of(event.task);
  RegionEntry* const region = find(event.region);
  if (process == nobody || region == nullptr) return;
  bool failed = false;
  if (event.kind == trace::EventKind::complete) {
    write(location(Kind::end, process));
    if (tasks_[process].waiter != nobody) read(location(Kind::run, tasks_[process].waiter));
    leave(*region);
    const auto outcome = trace::outcome_in(event.argument);
    failed = outcome == OutcomeKind::err || outcome == OutcomeKind::panicked;
  } else {
    const auto why = trace::cancel_in(event.argument);
    failed = why && is_own(why->kind);
  }
  if (failed) touch_cancel(region->id);
}

void TaskFootprint::pending(Process process, trace::ResourceId waits_for, explore::Footprint& touched) const {
  touched.write(location(Kind::run, process));
  for (const RegionEntry& region : regions_) {
    if (region.id.bits() == waits_for.bits()) touched.write(of(Kind::left, region));
  }
}

void TaskFootprint::pending_clock(explore::Footprint& touched) {
  touched.write(location(Kind::other, clock_process, clock_number));
}

// --- what is told ---

void TaskFootprint::admit(RegionEntry& region) {
  if (region.limited) {
    write(of(Kind::open, region));
  } else {
    read(of(Kind::open, region));
  }
}

void TaskFootprint::leave(RegionEntry& region) {
  if (region.limited) write(of(Kind::open, region));
  if (region.limited || region.heap) {
    write(of(Kind::left, region));
  } else {
    read(of(Kind::left, region));
  }
}

bool TaskFootprint::is_inside(const RegionEntry& region, RegionId outer) noexcept {
  const RegionEntry* at = &region;
  while (at != nullptr && at->id != outer) at = find(at->parent);
  return at != nullptr;
}

/// A cancel walks down: it looks at all that was opened inside, and one that is Closed by then is not found.
void TaskFootprint::touch_cancel(RegionId region) {
  for (const RegionEntry& inner : regions_) {
    if (inner.released || !is_inside(inner, region)) continue;
    write(of(Kind::open, inner));
    write(of(Kind::left, inner));
    if (inner.owner != nobody) read(location(Kind::run, inner.owner));
  }
  looked_at_time();
}

void TaskFootprint::spawned(TaskId task, RegionId region, bool finalizer) {
  if (running_ == nobody) return;
  const Process process = child_of(running_, tasks_[running_].spawned++);
  if (process == nobody) {
    crowded_ = true;  // told when the step is over: here the program would catch it
    return;
  }
  tasks_[process] = {.id = task, .region = region, .finalizer = finalizer};
  processes_.add(process);
  read(location(Kind::run, process));
  if (const RegionEntry* const entry = find(region)) write(of(Kind::order, *entry));
}

void TaskFootprint::refused(RegionId region) {
  if (RegionEntry* const entry = find(region)) leave(*entry);
}

void TaskFootprint::opened(RegionId region, RegionId parent, const kernel::RegionSpec& spec) {
  if (running_ == nobody) return;
  regions_.push_back({.id = region,
                      .parent = parent,
                      .maker = running_,
                      .number = tasks_[running_].regions++,
                      .owner = process_of(spec.owner),
                      .limited = spec.limits != kernel::Limits()});
  RegionEntry* const above = find(parent);
  if (above != nullptr && spec.reports_to == kernel::ReportsTo::parent) write(of(Kind::order, *above));
}

void TaskFootprint::released(RegionId region) {
  if (RegionEntry* const entry = find(region)) entry->released = true;
}

void TaskFootprint::reserved(ObligationId promise, RegionId region) {
  if (running_ == nobody) return;
  const Location place = location(Kind::promise, running_, tasks_[running_].promises++);
  promises_.push_back({promise.bits(), place, region});
  write(place);
}

void TaskFootprint::handed_over(ObligationId promise, TaskId to) {
  const Made* const entry = find(promises_, promise.bits());
  if (entry == nullptr) return;
  write(entry->location);
  if (RegionEntry* const region = find(entry->region)) leave(*region);
  looked_at_end(to);
  woken(to);
}

void TaskFootprint::made(trace::ResourceId object) {
  if (running_ == nobody) return;
  objects_.push_back({object.bits(), location(Kind::object, running_, tasks_[running_].objects++), {}});
}

void TaskFootprint::kept_in(RegionId region) {
  RegionEntry* const entry = find(region);
  if (entry == nullptr) return;
  write(of(Kind::order, *entry));
  write(of(Kind::left, *entry));
  if (touched_ != nullptr) entry->heap = true;
}

void TaskFootprint::looked_at(RegionId region) {
  if (RegionEntry* const entry = find(region)) admit(*entry);
}

void TaskFootprint::cancelled(RegionId region) { touch_cancel(region); }

void TaskFootprint::cancelled(TaskId task) {
  looked_at_end(task);
  if (const Process process = process_of(task); process != nobody) write(location(Kind::run, process));
  looked_at_time();
}

void TaskFootprint::woken(TaskId task) {
  if (const Process process = process_of(task); process != nobody) read(location(Kind::run, process));
}

void TaskFootprint::looked_at_end(TaskId task) {
  if (const Process process = process_of(task); process != nobody) read(location(Kind::end, process));
}

void TaskFootprint::awaits_end(TaskId task, TaskId waiter) {
  if (const Process process = process_of(task); process != nobody) tasks_[process].waiter = process_of(waiter);
}

void TaskFootprint::forgets_end(TaskId task) {
  looked_at_end(task);
  if (const Process process = process_of(task); process != nobody) tasks_[process].waiter = nobody;
}

void TaskFootprint::looked_at_budget(TaskId task) {
  if (const Process process = process_of(task); process != nobody) read(location(Kind::run, process));
}

void TaskFootprint::looked_at_time() { read(location(Kind::other, clock_process, clock_number)); }

void TaskFootprint::took_entropy() { write(location(Kind::other, clock_process, entropy_number)); }

}  // namespace calm::lab
