#include "calm/cx/task_root.hpp"

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/cx/crew.hpp"
#include "calm/cx/drive.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/wait.hpp"

namespace calm::cx {

WaitState Wait::cancel(TaskRoot& /*root*/, Reason& reason, ChildEnd& end) noexcept {
  std::destroy_at(&end);  // an assignment would ask twice what it was
  std::construct_at(&end, cancelled(std::move(reason)));
  return WaitState::failed;
}

/// Destroys the innermost frame; the one around it is that then. Gives: what that one awaited; nullptr when none is left.
Awaiter* TaskRoot::destroy_leaf() noexcept {
  FrameAwaiter* const above = awaiter_of(*live_.leaf);
  Frame* const frame = std::exchange(live_.leaf, above == nullptr ? nullptr : &above->frame);
  if (above != nullptr) last_await_.set(above->site);
  frame->coroutine().destroy();
  if (above != nullptr) above->abandon();
  return above;
}

/// Destroys frames from the leaf on upwards until one wants to see the end. Gives: false when none is left: then
/// that is how the task has ended.
[[gnu::noinline]] bool TaskRoot::unwind_to_asker() noexcept {
  while (live_.leaf != nullptr) {
    Awaiter* const awaiter = destroy_leaf();
    if (awaiter != nullptr && awaiter->deliver(failure())) return true;
  }
  if (keeps_) let_callable_go();
  stand_ = Stand::failed;  // where a wait has failed it was not yet
  return false;
}

/// Gives: false when there is none: what was thrown is how the task has ended.
[[gnu::noinline]] bool TaskRoot::make_first_frame() noexcept {
  try {
    call_it();
    return true;
  } catch (...) {
    let_callable_go();
    fail(panicked(std::current_exception()));
    return false;
  }
}

/// The frames are gone.
[[gnu::noinline]] void TaskRoot::let_callable_go() noexcept {
  keeps_ = false;
  drop_callable();
}

const ChildEnd& TaskRoot::store(ChildEnd&& end) noexcept {
  if (has_end()) return end_ = std::move(end);
  std::construct_at(&end_, std::move(end));
  stand_ = Stand::over;
  return end_;
}

ChildEnd TaskRoot::take_end(kernel::Worker& worker) noexcept {
  ChildEnd end = ok();
  if (stand_ == Stand::failed) {
    end = std::move(worker.failure());
    if (end.is_panicked()) worker.failure() = ok();  // a move leaves an exception where it is
  }
  if (!noted_) return end;
  Notes notes = take_notes();
  notes.merge(end.notes());
  return std::move(end).with_notes(std::move(notes));
}

// --- what the task has to say beside its values ---

namespace {

/// Few tasks have any: this is made for those that do, and lies further out than what their frames put up.
struct KeptNotes final : Fixture {
  static constexpr Kind kind = Kind::notes;
  KeptNotes() noexcept : Fixture(kind) {}
  Notes notes;
};

}  // namespace

/// Without memory they are dropped, and what takes them is told so.
[[gnu::noinline]] void TaskRoot::keep_notes(const Notes& notes) noexcept {
  auto* kept = Fixture::first<KeptNotes>(live_.fixtures);
  if (kept == nullptr) {
    const bool lost_some = noted_;
    noted_ = true;
    kept = new (std::nothrow) KeptNotes;
    if (kept == nullptr) {
      CALM_PROBE("task: no memory for notes");
      return;
    }
    if (lost_some) kept->notes = Notes::dropped();
    Fixture** place = &live_.fixtures;
    while (*place != nullptr && !Fixture::is<Crew>(**place)) place = &(*place)->outer_;
    kept->outer_ = std::exchange(*place, kept);
  }
  kept->notes.merge(notes);
}

/// Needs: there are some.
[[gnu::noinline]] Notes TaskRoot::take_notes() noexcept {
  noted_ = false;
  auto* const kept = Fixture::first<KeptNotes>(live_.fixtures);
  if (kept == nullptr) return Notes::dropped();
  Notes notes = std::move(kept->notes);
  take_down(*kept);
  delete kept;
  return notes;
}

/// Out of the way: most tasks are quiet.
[[gnu::noinline]] WaitState TaskRoot::ask_wait() noexcept {
  const Stand stood = std::exchange(stand_, Stand::waits);
  if (stood == Stand::gave_way) return ask_after_giving_way();
  if (stood == Stand::gave_way_inside) live_.wait->gave_way();
  if (stood == Stand::arrived && port().is_watched()) port().reached(*this);
  if (port().is_quick() && live_.wait->context() == nullptr) return ask_plainly();
  return publish(port().step(*this, *live_.wait, failure()));
}

/// It gave way without a wait, and now there is something to see: one is asked after all, and ends with that.
WaitState TaskRoot::ask_after_giving_way() noexcept {
  WaitItself<YieldWait> wait(&context());
  wait.gave_way();
  const WaitState state = port().step(*this, wait, failure());
  CALM_INVARIANT(TSK_6, state != WaitState::pending, id().bits());
  return state;
}

WaitState TaskRoot::ask(kernel::Worker& worker) noexcept {
  enter(worker, id());
  ChildEnd end = ok();
  return live_.wait == nullptr ? WaitState::pending : publish(port().step(*this, *live_.wait, end));
}

kernel::AwaitPoint TaskRoot::await_point() const noexcept {
  if (port().is_shared()) {
    const std::uint64_t bits = runs_or_waits_.get();
    if (bits >> 62 == holder_bit >> 62) {
      return {.site = last_await_.get(), .holder = TaskId::from_bits(bits & ~holder_bit)};
    }
    return {.site = last_await_.get(), .resource = trace::ResourceId::from_bits(bits)};
  }
  if (leaf() == nullptr) return {};
  if (live_.wait == nullptr) return {.site = last_await_.get()};
  return {.site = last_await_.get(), .resource = live_.wait->resource(), .holder = live_.wait->holder()};
}

void TaskRoot::ask_for_another_poll() noexcept {
  if (port().is_quick()) {
    again_ = true;
  } else {
    (void)port().wake(worker(), id());
  }
}

TaskRoot::Progress TaskRoot::poll(kernel::Worker& worker, TaskId id) noexcept {
  worker.set_running(id);
  return poll_here(worker);
}

/// A frame has failed, or stands at a wait that was not asked yet: the poll goes on until it is over.
[[gnu::noinline]] TaskRoot::Progress TaskRoot::go_on() noexcept {
  while (stand_ == Stand::failed || stand_ == Stand::arrived) {
    if (stand_ == Stand::failed) {
      if (!unwind_to_asker()) return Progress::ended;
      stand_ = Stand::waits;
    } else {
      pass();
      if (ready() >= ready_in_a_row) {
        ask_for_another_poll();
        return parked();
      }
      const WaitState state = is_quiet() ? ask_plainly() : ask_wait();
      if (state == WaitState::pending) return parked();
      if (!tell_frame(state)) return Progress::ended;
    }
    handover_.run(live_.leaf->coroutine());
  }
  return after_frames();
}

/// From the leaf on; `outer` stays, parked at what is gone, and can only be destroyed.
void TaskRoot::destroy_up_to(const Frame* outer) noexcept {
  if (live_.wait != nullptr) std::exchange(live_.wait, nullptr)->abandon();
  while (live_.leaf != outer) (void)destroy_leaf();
}

bool TaskRoot::take_frames_back() noexcept { return live_.wait == nullptr || live_.wait->take_back(); }

RegionId TaskRoot::drop_inside_scope(kernel::Worker& worker, TaskId id) noexcept {
  auto* const scope = Fixture::first<OpenScope>(live_.fixtures);
  CALM_INVARIANT(CAN_8, scope != nullptr, id.bits());
  enter(worker, id);
  destroy_up_to(scope->frame);
  leave_scope(*scope);
  return scope->region;
}

[[gnu::noinline]] void TaskRoot::drop(kernel::Worker& worker, TaskId id) noexcept {
  if (id) {
    enter(worker, id);
  } else {
    be_with(worker);  // it never ran: what its frame holds ends in the poll of the one who tried to start it (OBL-2)
  }
  destroy_up_to(nullptr);
  if (keeps_) let_callable_go();
}

}  // namespace calm::cx
