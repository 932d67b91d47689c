#include "calm/lab/world.hpp"

#include <algorithm>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/drive.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/snapshot_index.hpp"
#include "calm/lab/lane_choice.hpp"
#include "calm/lab/oracles.hpp"
#include "calm/mem/allocation_points.hpp"

namespace calm::lab {
namespace {

constexpr std::uint64_t thousand = 1000;
constexpr std::uint64_t shut_down_steps = 1'000'000;

/// Allocations of the program and of the runtime count, those of the lab do not.
class Suffering {
 public:
  Suffering(bool on, std::uint64_t nth) noexcept : on_(on) {
    if (on_) mem::AllocationPoints::watch(nth, mem::AllocationPoints::Caches::counted);
  }
  Suffering(const Suffering&) = delete;
  Suffering& operator=(const Suffering&) = delete;
  ~Suffering() { (void)end(); }

  /// Gives: how many allocations there were.
  std::uint64_t end() noexcept { return std::exchange(on_, false) ? mem::AllocationPoints::stop() : 0; }

 private:
  bool on_;
  mem::AllocationPoints::Pause own_;  // until Resume
};

/// Gives: how many regions are around this one.
std::size_t depth_of(const kernel::Snapshot& snapshot, RegionId region) noexcept {
  std::size_t depth = 0;
  const kernel::RegionView* at = snapshot.find(region);
  while (at != nullptr && at->parent && depth < snapshot.regions.size()) {
    at = snapshot.find(at->parent);
    ++depth;
  }
  return depth;
}

}  // namespace

World::World(const LabConfig& config, Ground& ground, const Watching& watching)
    : config_(config),
      touches_(watching.touches),
      allocations_(watching.allocations || config.faults.fail_allocation != 0),
      choices_(config.seed, config.choices ? &*config.choices : nullptr, watching.switches),
      trouble_(~config.seed),
      host_(ground.host_telling(watching.touches, watching.inputs)),
      kernel_(ground.kernel()),
      port_(kernel_, host_, config.seed, config.faults, watching.sites),
      worker_(kernel_.worker(0)) {
  const bool lanes_choose = config.governor != nullptr && !config.choices && watching.switches == nullptr;
  if (!lanes_choose) return;
  std::optional<sched::SeededTies> ties;
  if (config.random_ties) ties.emplace(config.seed);
  lanes_ = std::make_unique<LaneChoice>(*config.governor, kernel_, port_, ties);
}

World::~World() = default;

LabReport World::run(Program& program) {
  Suffering suffering(allocations_, config_.faults.fail_allocation);
  begin(program);
  while (steps_ < config_.max_steps && step()) {
  }
  allocated_ = suffering.end();
  return finish();
}

void World::begin(Program& program) {
  cx::TaskRoot& main = program.make(port_);
  const auto made = kernel_.spawn(worker_, kernel_.root(), {.frame = &main, .handle = false});
  CALM_REQUIRE(REG_6, made.status.is_ok());
  main_ = made.id;
}

LabReport World::finish() {
  host_.touches = nullptr;
  const bool stopped = choices() != 0;
  LabReport report{.seed = config_.seed,
                   .steps = steps_,
                   .chosen_by_seed = !config_.choices && !led_ && !choices_.are_led() && !lanes_};
  report.allocations = allocated_;
  Evidence evidence = look();
  report.end_time = worker_.now();
  report.end = kernel_.end_of(worker_, kernel_.root()).value_or(ok());
  report.state_digest = kernel::state_digest(evidence.snapshot);
  report.await_points = port_.points();
  evidence.stuck = !evidence.quiet && !stopped;
  if (!evidence.quiet) look_for_lost_wakes(evidence);
  report.problems = ask_oracles(evidence);
  if (stopped) {
    report.problems.insert(
        report.problems.begin(),
        {Oracle::steps, "calm: stopped after " + std::to_string(report.steps) +
                            " steps; is there a livelock?\n  law:  LAB-6 a program of the lab comes to an end\n  next: "
                            "see below who is alive, or raise LabConfig::max_steps"});
  }
  if (const std::string misfit = misfit_text(); !misfit.empty()) {
    report.problems.push_back({Oracle::determinism, misfit});
  }
  report.trace = std::move(evidence.trace);
  report.mark_names = std::move(port_.mark_names);
  if (config_.names) {
    report.names = std::move(names_);
    report.names.resources = report.mark_names;
    report.names.resources.try_emplace(kernel_.root(), "root");
  }
  report.trace_digest = trace::trace_digest(report.trace);
  report.schedule = {.program = config_.program,
                     .seed = config_.seed,
                     .faults = config_.faults,
                     .explore_time = config_.explore_time,
                     .choices = choices_.made()};
  if (!evidence.quiet) shut_down();
  return report;
}

/// Gives: false when nothing can happen any more.
bool World::step() {
  if (config_.faults.spurious_wakes != 0 || config_.faults.clock_jumps != 0) make_trouble();
  if (lanes_) return step_by_lanes();
  const std::uint32_t count = choices();
  if (count == 0) return false;
  let_happen(count == 1 ? 0 : choices_.next(count, staying()), count);
  return true;
}

/// The same where lanes choose: time goes on when nothing is runnable, as where a worker parks.
bool World::step_by_lanes() {
  const std::uint32_t count = choices();
  if (count == 0) return false;
  std::uint32_t choice = 0;
  if (host_.ready.empty()) {
    lanes_->parked();
  } else {
    choice = lanes_->next(host_.ready);
  }
  if (count > 1) choices_.add(choice);
  let_happen(choice, count);
  return true;
}

/// Gives: the choice that lets the task that was polled last go on; the one that waits longest when that cannot.
std::uint32_t World::staying() const noexcept {
  const auto at = std::find_if(host_.ready.begin(), host_.ready.end(),
                               [this](const Ready& entry) { return entry.task == last_polled_; });
  return at == host_.ready.end() ? 0 : static_cast<std::uint32_t>(at - host_.ready.begin());
}

std::uint32_t World::choices() {
  const auto count = static_cast<std::uint32_t>(host_.ready.size());
  const bool time = (count == 0 || config_.explore_time) && is_time_next();
  return count + (time ? 1 : 0);
}

void World::take(std::uint32_t choice) {
  led_ = true;
  const std::uint32_t count = choices();
  CALM_REQUIRE(LAB_3, choice < count, choice, count);
  if (count > 1) choices_.add(choice);
  let_happen(choice, count);
}

void World::let_happen(std::uint32_t choice, std::uint32_t count) {
  ++steps_;
  const auto access =
      count > host_.ready.size() ? trace::Access::read : trace::Access::none;  // the clock was one of them
  if (count > 1) worker_.record({.kind = trace::EventKind::choice, .access = access, .argument = choice});
  if (choice == host_.ready.size()) {
    advance_time();
    return;
  }
  const Ready entry = host_.ready[choice];
  host_.ready.erase(host_.ready.begin() + static_cast<std::ptrdiff_t>(choice));
  dispatch(entry);
}

void World::dispatch(const Ready& entry) {
  last_polled_ = entry.task;
  (void)worker_.begin_round();
  const auto budget = kernel_.budget_of(entry.task);
  const bool mine = host_.inputs == nullptr;  // a worker polls while a deadline waits to be looked at
  if (mine && budget && budget->deadline.reached(worker_.now()) && !kernel_.is_cancel_requested(entry.task)) {
    overdue_.push_back({entry.task, budget->deadline.time(), worker_.recorder().last()});
  }
  if (config_.names) keep_name(entry.task);  // it may end in this poll
  {
    const mem::AllocationPoints::Resume resume;
    (void)cx::drive(kernel_, worker_, entry.task, entry.cause);
    if (kernel_.state(main_) == TaskState::completed) (void)kernel_.close(worker_, kernel_.root());
  }
  if (config_.names) keep_name(entry.task);
  if (config_.faults.spurious_wakes != 0) remember(entry.task);
  if (worker_.round() >= next_look_) look_for_futurelocks();
  events_.keep_if_many(worker_);
}

/// A list of choices that is not one of this program: what there is to say without the events of the run it came from.
std::string World::misfit_text() const {
  std::string what;
  if (const auto& misfit = choices_.misfit()) {
    what = "choice " + std::to_string(misfit->at + 1) + " is entry " + std::to_string(misfit->choice) + " of " +
           std::to_string(misfit->count) + " runnable tasks";
  } else if (config_.choices && config_.choices->size() > choices_.made().size()) {
    what = "it has " + std::to_string(config_.choices->size()) + " choices and the run made " +
           std::to_string(choices_.made().size());
  }
  if (what.empty()) return what;
  return "calm: the schedule is of another run: " + what +
         "\n  law:  LAB-3 a schedule repeats the run that it was recorded from"
         "\n  next: use it with the program, configuration and version that it came from";
}

/// A look now and then, in steps that cost little beside the polls between them: who must keep a promise may be freed again
/// by a deadline before the end.
void World::look_for_futurelocks() {
  const kernel::Snapshot snapshot = kernel_.snapshot(worker_);
  const auto tasks = static_cast<std::uint32_t>(snapshot.tasks.size());
  next_look_ = worker_.round() + std::max(kernel::futurelock_rounds, 16 * tasks);
  for (kernel::Futurelock& lock : kernel::find_futurelocks(snapshot)) {
    const bool known = std::any_of(futurelocks_.begin(), futurelocks_.end(),
                                   [&](const kernel::Futurelock& other) { return other.task == lock.task; });
    if (!known) futurelocks_.push_back(std::move(lock));
  }
}

bool World::is_time_next() {
  if (config_.explore_time) {
    // A deadline of a task that has ended is nothing to wait for.
    while (!host_.watches.empty() && kernel_.state(host_.watches.next_id()) == TaskState::completed) {
      (void)host_.watches.take_due(host_.watches.next());
    }
  }
  return !host_.alarms.empty() || (!host_.watches.empty() && kernel_.state(kernel_.root()) != RegionState::closed);
}

/// Time is virtual: it goes on to the next alarm or deadline. Needs: there is one.
void World::advance_time() {
  Time next = Time::max();
  if (!host_.alarms.empty()) next = host_.alarms.next();
  if (!host_.watches.empty()) next = std::min(next, host_.watches.next());
  move_clock(next);
}

void World::move_clock(Time to) {
  worker_.set_time(std::max(worker_.now(), to));  // SHD-5: nobody else writes it
  ++batch_;
  while (const clock::Alarm* const alarm = host_.alarms.take_due(worker_.now())) {
    const Time wanted = host_.wanted[alarm->sequence];
    worker_.record({.kind = trace::EventKind::timer, .task = alarm->task, .argument = wanted.ns()});
    fired_.push_back({alarm->task, wanted, worker_.now(), alarm->sequence, batch_});
    if (touches_ != nullptr) touches_->woken(alarm->task);
    (void)kernel_.wake(worker_, alarm->task);
  }
  while (const auto task = host_.watches.take_due(worker_.now())) {
    const mem::AllocationPoints::Resume resume;
    if (touches_ != nullptr) touches_->cancelled(*task);
    (void)kernel_.deadline_reached(worker_, *task);
  }
}

void World::go_off(TaskId task, Time wanted) {
  worker_.record({.kind = trace::EventKind::timer, .task = task, .argument = wanted.ns()});
  fired_.push_back({task, wanted, worker_.now(), fired_.size(), ++batch_});
  (void)kernel_.wake(worker_, task);
  events_.keep_if_many(worker_);
}

void World::reach_deadline(TaskId task) {
  (void)kernel_.deadline_reached(worker_, task);
  events_.keep_if_many(worker_);
}

void World::ask_to_stop() {
  (void)kernel_.cancel(worker_, kernel_.root(), {.kind = CancelKind::shutdown});
  events_.keep_if_many(worker_);
}

/// The faults that may come at any step (LAB-7). They have numbers of their own, so the choices stay what they are.
void World::make_trouble() {
  if (trouble_.below(thousand) < config_.faults.clock_jumps) {
    const auto most = static_cast<std::uint64_t>(config_.faults.jump_max.ns());
    const auto jump = static_cast<std::int64_t>(most == 0 ? 0 : trouble_.below(most) + 1);
    worker_.record({.kind = trace::EventKind::timer, .argument = static_cast<std::uint64_t>(jump)});
    move_clock(worker_.now() + Duration::nanoseconds(jump));
  }
  if (trouble_.below(thousand) < config_.faults.spurious_wakes && !polled_.empty()) {
    (void)kernel_.wake(worker_, polled_[trouble_.below(polled_.size())]);
  }
}

/// Keeps the list of those who can be woken: a task that was polled and is alive.
void World::remember(TaskId task) {
  const auto at = std::find(polled_.begin(), polled_.end(), task);
  const bool alive = kernel_.state(task) != TaskState::completed;
  if (at == polled_.end() && alive) polled_.push_back(task);
  if (at != polled_.end() && !alive) polled_.erase(at);
}

void World::copy_events(std::uint64_t after, std::vector<trace::Event>& events) const {
  worker_.ring().copy_since(after, events);  // one ring: an event's position is its sequence less one
}

/// Names are known once a task has come to an await point, and places change from one to the next.
void World::keep_name(TaskId task) {
  const auto* const record = kernel_.find(task);
  if (record == nullptr || record->frame == nullptr || kernel_.state(task) == TaskState::completed) return;
  const auto& root = *static_cast<const cx::TaskRoot*>(record->frame);
  trace::TaskName& known = names_.tasks[task];
  if (known.name.empty()) known.name = task_name(root);
  if (std::string place = place_text(user_site(root)); !place.empty()) known.await_site = std::move(place);
}

Evidence World::look() {
  Evidence evidence{.snapshot = kernel_.snapshot(worker_), .trace = events_.take(worker_)};
  evidence.quiet = bool(kernel::quiescent(evidence.snapshot));
  evidence.alarms = std::move(fired_);
  evidence.overdue = std::move(overdue_);
  evidence.futurelocks = std::move(futurelocks_);
  if (lanes_) evidence.dispatches = lanes_->take_dispatches();
  evidence.findings = host_.findings;
  host_.listening = false;
  for (kernel::TaskView& task : evidence.snapshot.tasks) {
    const auto* const record = kernel::is_alive(task) ? kernel_.find(task.id) : nullptr;
    if (record == nullptr || record->frame == nullptr) continue;
    const auto& root = *static_cast<const cx::TaskRoot*>(record->frame);
    evidence.names.add(task.id, task_name(root));
    if (const kernel::Site site = user_site(root); site.line() != 0) task.await_site = site;
  }
  return evidence;
}

/// Asks every parked task's wait once more, without letting the task go on.
void World::look_for_lost_wakes(Evidence& evidence) {
  for (const kernel::TaskView& task : evidence.snapshot.tasks) {
    const bool parked = kernel::is_alive(task) && task.wake == lockfree::WakeState::idle && task.started;
    const bool would_be_dropped = task.epoch && (task.cleanup_polls >= task.cleanup_quota);
    if (parked && !would_be_dropped && wait_is_over(task.id)) evidence.lost_wakes.push_back(task.id);
  }
}

bool World::wait_is_over(TaskId task) {
  const std::size_t before = host_.ready.size();
  const bool requested = kernel_.is_cancel_requested(task);
  (void)kernel_.wake(worker_, task);
  if (host_.ready.size() == before) return false;  // somebody has woken it meanwhile
  host_.ready.pop_back();
  if (kernel_.begin_poll(worker_, task) != kernel::PollStart::run) return false;
  // A budget that this very poll has used up is no wake that was lost.
  const bool used_up = !requested && kernel_.is_cancel_requested(task);
  auto& root = *static_cast<cx::TaskRoot*>(kernel_.find(task)->frame);
  const bool over = root.ask(worker_) != cx::WaitState::pending;
  (void)kernel_.end_poll(worker_, task);
  return over && !used_up;
}

/// The report is made; what is still there is asked to leave, so that its memory and its locals end as they should.
void World::shut_down() {
  (void)kernel_.cancel(worker_, kernel_.root(), {.kind = CancelKind::shutdown});
  for (std::uint64_t steps = 0; steps < shut_down_steps; ++steps) {
    if (host_.ready.empty()) {
      if (kernel_.state(kernel_.root()) == RegionState::closed || !is_time_next()) break;
      advance_time();
      continue;
    }
    const Ready entry = host_.ready.front();
    host_.ready.pop_front();
    (void)worker_.begin_round();
    (void)cx::drive(kernel_, worker_, entry.task, entry.cause);
  }
  if (kernel_.state(kernel_.root()) != RegionState::closed) drop_the_rest();
}

void World::abandon() noexcept {
  host_.touches = nullptr;
  host_.listening = false;
  if (kernel_.state(kernel_.root()) != RegionState::closed) drop_the_rest();
}

/// Deepest regions first, and the newest first in each: nobody's frame goes before those that borrow from it.
void World::drop_the_rest() {
  const kernel::Snapshot snapshot = kernel_.snapshot(worker_);
  struct Left {
    std::size_t depth;
    std::uint64_t creation;
    TaskId task;
  };
  std::vector<Left> left;
  for (const kernel::TaskView& task : snapshot.tasks) {
    if (!kernel::is_alive(task)) continue;
    left.push_back({depth_of(snapshot, task.region), task.creation, task.id});
  }
  std::sort(left.begin(), left.end(), [](const Left& a, const Left& b) {
    return a.depth != b.depth ? a.depth > b.depth : a.creation > b.creation;
  });
  for (const Left& one : left) {
    const auto* const record = kernel_.find(one.task);
    auto* const root = record == nullptr ? nullptr : static_cast<cx::TaskRoot*>(record->frame);
    if (root == nullptr) continue;
    root->drop(worker_, one.task);
    root->let_go();
  }
}

}  // namespace calm::lab
