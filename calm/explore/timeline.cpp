#include "calm/explore/timeline.hpp"

#include <array>
#include <map>

#include "calm/explore/footprint.hpp"
#include "calm/trace/argument.hpp"

namespace calm::explore {
namespace {

using trace::EventKind;

TaskId task_of(Process process) { return {process, Generation(1)}; }

class Timeline {
 public:
  explicit Timeline(Program& program) : program_(program) {
    program.restart();
    result_.names.resources[region_] = "program";
    for (std::uint64_t left = alive().bits(); left != 0; left &= left - 1) {
      const auto process = static_cast<Process>(std::countr_zero(left));
      result_.names.tasks[task_of(process)].name = program.name_of(process);
      add({.kind = EventKind::spawn, .task = task_of(process), .region = region_, .resource = region_});
    }
  }

  void step(Process process) {
    ++now_;
    if (process != last_) add({.kind = EventKind::poll, .task = task_of(process), .cause = ended_at_});
    last_ = process;
    touched_.clear();
    (void)program_.step(process, touched_);
    for (std::uint32_t i = 0; i < touched_.size(); ++i) touch(process, touched_[i]);
    ended_at_ = result_.trace.events.back().sequence;
    if (program_.failed() || alive().has(process)) return;
    add({.kind = EventKind::complete,
         .task = task_of(process),
         .region = region_,
         .cause = ended_at_,
         .argument = trace::argument_of(OutcomeKind::ok)});
  }

  [[nodiscard]] trace::NamedTrace finish() { return std::move(result_); }

 private:
  /// What happened last at a place, as sequences of events.
  struct Place {
    std::uint32_t number = 0;
    std::uint64_t last_write = 0;
    std::uint64_t last_access = 0;
  };

  [[nodiscard]] ProcessSet alive() { return ProcessSet(program_.enabled().bits() | program_.blocked().bits()); }

  void touch(Process process, Touch touch) {
    Place& place = places_[touch.location()];
    if (place.last_access == 0) place.number = static_cast<std::uint32_t>(places_.size() - 1);
    const std::uint64_t at = add({.kind = EventKind::access,
                                  .access = touch.is_write() ? trace::Access::write : trace::Access::read,
                                  .task = task_of(process),
                                  .resource = trace::ResourceId::registered(place.number),
                                  .cause = touch.is_write() ? place.last_access : place.last_write});
    place.last_access = at;
    if (touch.is_write()) place.last_write = at;
  }

  std::uint64_t add(trace::Event event) {
    event.sequence = result_.trace.events.size() + 1;
    event.position = static_cast<std::uint32_t>(result_.trace.events.size());
    event.time = Time::at_ns(now_);
    result_.trace.events.push_back(event);
    return event.sequence;
  }

  Program& program_;
  trace::NamedTrace result_;
  const RegionId region_{0, Generation(1)};
  std::map<Location, Place> places_;
  Footprint touched_;
  std::uint64_t now_ = 0;
  std::uint64_t ended_at_ = 0;  // the last event of the step before
  Process last_ = process_max;
};

}  // namespace

trace::NamedTrace timeline_of(Program& program, const std::vector<Process>& schedule) {
  Timeline timeline(program);
  for (const Process process : schedule) timeline.step(process);
  return timeline.finish();
}

}  // namespace calm::explore
