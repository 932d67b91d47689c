// machine_host.hpp — the production host beside its loop: its making, its answers to the kernel and to who asks from outside.
// Laws:    LAB-1, QUI-2, QUI-3, OBS-1, TSK-4
// Threads: see machine.hpp, for which these are definitions
// Cancel:  shut_down()
#pragma once

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "calm/cx/backtrace.hpp"
#include "calm/kernel/finding.hpp"
#include "calm/kernel/quiescence.hpp"
#include "calm/kernel/tree_text.hpp"
#include "calm/kernel/view_text.hpp"
#include "calm/runtime/machine_recording.hpp"
#include "calm/runtime/machine_rescue.hpp"
#include "calm/runtime/machine_steps.hpp"

namespace calm::runtime {

/// Gives: `af63dc4c8601ec8c`.
inline std::string hex(std::uint64_t number) {
  char text[17];
  (void)std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

/// Gives: `dispatched 4 cancel, 2 timed, 30 ready, 1 fallback, fairness af63dc4c8601ec8c`.
inline std::string to_string(const sched::Certificate& certificate) {
  return "dispatched " + std::to_string(certificate.cancel) + " cancel, " + std::to_string(certificate.timed) +
         " timed, " + std::to_string(certificate.ready) + " ready, " + std::to_string(certificate.fallback_cancel) +
         " fallback, fairness " + hex(certificate.hash());
}

template <lockfree::AtomicsPolicy Atomics>
Machine<Atomics>::Machine(const RunOptions& options, std::uint16_t workers)
    : options_(options),
      workers_(workers),
      beds_(workers),
      gateway_(mem::Ref<cx::Gateway>::adopt(
          new cx::Gateway([](void* machine) noexcept { static_cast<Machine*>(machine)->ring(); }, this))),
      blocking_(options) {}

template <lockfree::AtomicsPolicy Atomics>
Machine<Atomics>::~Machine() {
  join_threads();
}

template <lockfree::AtomicsPolicy Atomics>
Outcome<void> Machine<Atomics>::prepare() {
  kernel::Config config = options_.kernel;
  config.workers = workers_;
  auto kernel = Kernel::make(config, *this);
  if (!kernel) return err(std::move(kernel).error());
  kernel_ = std::move(kernel).value();
  port_ = std::make_unique<Port>(*kernel_, *this);
  for (std::uint16_t i = 0; i < workers_; ++i) {
    seats_.push_back(std::make_unique<Seat<Atomics>>(kernel_->worker(i), options_.seed, workers_, options_.coalescing));
    kernel_->worker(i).set_seat(seats_.back().get());
    seats_.back()->keep.prepare(workers_ > 1);
    seats_.back()->spins = Spins(options_.back_off.spins);
    if (options_.governor != nullptr) {
      seats_.back()->governed = std::make_unique<Governed>(*options_.governor);
      seats_.back()->inner_batch = 0;  // it chooses among all that wait
    }
  }
  return ok();
}

template <lockfree::AtomicsPolicy Atomics>
Outcome<void> Machine<Atomics>::start() {
  for (std::uint16_t i = 1; i < workers_; ++i) {
    auto started = start_thread(i);
    if (!started) return started;
  }
  return ok();
}

template <lockfree::AtomicsPolicy Atomics>
Outcome<void> Machine<Atomics>::start_thread(std::uint16_t number) {
  struct Start {
    Machine& machine;
    std::uint16_t number;
  };
  auto thread = std::make_unique<Thread>();
  auto start = std::make_unique<Start>(Start{*this, number});
  const auto body = [](void* context) {
    const std::unique_ptr<Start> mine(static_cast<Start*>(context));
    if (mine->machine.options_.pin_to_cores) Thread::go_to_core(mine->number);
    mine->machine.work(*mine->machine.seats_[mine->number]);
  };
  const Status started = thread->start(options_, number, body, start.get());
  if (!started) return err(started.error(), "a worker's thread was not started");
  (void)start.release();
  threads_.push_back(std::move(thread));
  return ok();
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::join_threads() noexcept {
  orders_.give(finished);
  beds_.call_all();
  for (const auto& thread : threads_) thread->join();
  threads_.clear();
}

template <lockfree::AtomicsPolicy Atomics>
Status Machine<Atomics>::begin(cx::TaskRoot& main) {
  Seat<Atomics>& seat = *seats_[0];
  look_at_clock(seat);
  come_in(seat);
  const auto made = kernel_->spawn(seat.worker, root(), {.frame = &main, .handle = true});
  main_ = made.id;
  if (!made) {
    kernel::Worker* const before = std::exchange(worker_of_this_thread(), &seat.worker);
    main.drop(seat.worker, {});
    main.let_go();
    worker_of_this_thread() = before;
    go_out(seat);
  }
  return made.status;
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::run() {
  Seat<Atomics>& seat = *seats_[0];
  work(seat);
  join_threads();
  come_in(seat);  // and stays: what is asked of the kernel from now on this thread asks
  gateway_->close();
  if (recorder_ != nullptr) {
    const auto end = kernel_->end_of(seat.worker, root());
    recorder_->finish(end ? end->kind() : OutcomeKind::ok);
  }
  (void)kernel_->release(seat.worker, main_);
}

// --- Engine ---

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::shut_down(kernel::Worker& worker) {
  if (recorder_ != nullptr) recorder_->step(sched::StepKind::shutdown, worker);
  (void)kernel_->cancel(worker, root(), {.kind = CancelKind::shutdown});
}

template <lockfree::AtomicsPolicy Atomics>
template <class F>
auto Machine<Atomics>::with_others_halted(Seat<Atomics>& seat, F look) {
  if (recorder_ != nullptr) return look();  // it has the turn: nobody else touches the kernel
  constexpr Duration patience = Duration::milliseconds(100);
  orders_.begin_halt();
  const Time until = clock_.now() + patience;
  while (orders_.standing() + 1U < workers_ && clock_.now() < until) {
    beds_.call_all();
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
  look_at_clock(seat);
  seat.hurry_if_late();
  auto seen = look();
  orders_.end_halt();
  return seen;
}

template <lockfree::AtomicsPolicy Atomics>
std::string Machine<Atomics>::inspect(kernel::Worker& worker) {
  Seat<Atomics>& seat = seat_of(worker);
  return with_others_halted(seat, [&] { return kernel::tree_text(kernel_->snapshot(worker)) + '\n' + workers_text(); });
}

template <lockfree::AtomicsPolicy Atomics>
std::string Machine<Atomics>::stragglers(kernel::Worker& worker) {
  return with_others_halted(seat_of(worker), [&] { return kernel::diagnose(kernel_->snapshot(worker)); });
}

template <lockfree::AtomicsPolicy Atomics>
std::string Machine<Atomics>::describe_running(const kernel::Worker& worker) const {
  const Task* const task = kernel_->find(worker.running());
  const auto* const root = task == nullptr ? nullptr : static_cast<const cx::TaskRoot*>(task->frame);
  return root == nullptr ? to_string(worker.running()) : cx::backtrace(*root);
}

template <lockfree::AtomicsPolicy Atomics>
std::vector<const PollWatch*> Machine<Atomics>::poll_watches() const {
  std::vector<const PollWatch*> watches;
  watches.reserve(seats_.size());
  for (const auto& seat : seats_) watches.push_back(&seat->watch);
  return watches;
}

template <lockfree::AtomicsPolicy Atomics>
std::string Machine<Atomics>::workers_text() const {
  std::string text;
  for (const auto& seat : seats_) {
    if (!text.empty()) text += '\n';
    const kernel::Worker::Look poll =
        seat->watch.look();  // first: what the worker did before it can be read from here on
    text += "worker " + std::to_string(seat->worker.index()) + ": " + kernel::counted_noun(poll.round, "poll") + ", " +
            to_string(seat->counters) + ", " + to_string(seat->certificate());
    if (seat->governed != nullptr) text += "\n  " + to_string(*seat->governed);
  }
  return text;
}

// --- kernel::Host ---

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::schedule(kernel::Worker& worker, Task& task) noexcept {
  Seat<Atomics>& seat = seat_of(worker);
  seat.counters.wakes.add();
  if constexpr (!Atomics::shared) {
    const bool newborn = task.word.look().state() == TaskState::created;
    if (newborn && worker.running() && sched::is_plain(task)) return seat.ready.push_newborn(task);
    enqueue(seat, task);
  } else if (!schedule_next(seat, worker, task)) {
    schedule_in_turn(seat, worker, task);
  }
}

/// What schedule() does most often: the running task wakes one that this worker polled last. Gives: false when it is otherwise,
/// or not as simple as that; nothing is done then.
template <lockfree::AtomicsPolicy Atomics>
[[gnu::always_inline]] inline bool Machine<Atomics>::schedule_next(Seat<Atomics>& seat, const kernel::Worker& worker,
                                                                   Task& task) noexcept {
  const auto& root = *static_cast<const cx::TaskRoot*>(task.frame);
  if (!root.is_free_here(worker.index()) || !sched::is_plain(task) || !worker.running() ||
      worker.template polled<Atomics>() == &task)
    return false;
  if (!seat.keep.begin_alone()) return false;
  const bool done = seat.ready.try_push_next(task);
  seat.keep.end_alone();
  return done;
}

template <lockfree::AtomicsPolicy Atomics>
[[gnu::noinline]] void Machine<Atomics>::schedule_in_turn(Seat<Atomics>& seat, const kernel::Worker& worker,
                                                          Task& task) noexcept {
  const bool newborn = task.word.look().state() == TaskState::created;
  const auto& root = *static_cast<const cx::TaskRoot*>(task.frame);
  if (root.is_pinned() && root.home() != worker.index()) {
    seats_[root.home()]->inbox.push(task);
    return beds_.call(root.home());
  }
  const Turn turn(seat.keep);
  if (root.is_pinned()) return enqueue(seat, task);
  if (!newborn && root.comes_from_another(worker.index())) ++seat.strangers;
  if (!sched::is_plain(task)) return seat.lanes().push(task);
  if (newborn && worker.running()) return seat.ready.push_newborn(task);
  if (!worker.running() || worker.template polled<Atomics>() == &task) return seat.ready.push(task);
  seat.ready.push_next(task);
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::watch(kernel::Worker& worker, TaskId task, Time deadline) noexcept {
  Seat<Atomics>& seat = seat_of(worker);
  const Turn turn(seat.keep);
  if (!seat.deadlines.add(task, deadline)) {
    std::fputs("calm: no memory to keep a deadline [HND-3]\n", stderr);
  }
}

/// A recording tells of each task whose deadline was reached. Without memory for one entry each is tried by itself.
template <lockfree::AtomicsPolicy Atomics>
bool Machine<Atomics>::watch_all(kernel::Worker& worker, RegionId region, Time deadline) noexcept {
  if (recorder_ != nullptr) return false;
  Seat<Atomics>& seat = seat_of(worker);
  const Turn turn(seat.keep);
  return seat.region_deadlines.add(region, deadline);
}

template <lockfree::AtomicsPolicy Atomics>
void Machine<Atomics>::report(kernel::Worker& /*worker*/, const kernel::Finding& finding) noexcept {
  std::fprintf(stderr, "%s\n", to_string(finding).c_str());
}

template <lockfree::AtomicsPolicy Atomics>
kernel::AwaitPoint Machine<Atomics>::await_point(const Task& task) const noexcept {
  const auto* const root = static_cast<const cx::TaskRoot*>(task.frame);
  if (root == nullptr) return {};
  kernel::AwaitPoint point = root->await_point();
  point.name = root->name();
  if (const kernel::Worker* const looks = worker_of_this_thread()) point.polled = root->last_poll(looks->now());
  return point;
}

template <lockfree::AtomicsPolicy Atomics>
std::uint64_t Machine<Atomics>::pending_timers() const noexcept {
  std::uint64_t pending = 0;
  for (const auto& seat : seats_) pending += seat->alarms.size();
  return pending;
}

}  // namespace calm::runtime
