#include "calm/cx/task_root.hpp"

#include <memory>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/drive.hpp"
#include "calm/cx/port.hpp"

namespace calm::cx {

WaitState Wait::cancel(TaskRoot& /*root*/, Reason& reason, ChildEnd& end) noexcept {
  std::destroy_at(&end);  // an assignment would ask twice what it was
  std::construct_at(&end, cancelled(std::move(reason)));
  return WaitState::failed;
}

void TaskRoot::start_with(Frame& frame) noexcept {
  CALM_REQUIRE(TSK_5, live_.leaf == nullptr && frame.above == nullptr);
  frame.above = &context_;
  live_.leaf = &frame;
}

/// The frame has failed, or it was the outermost: the loop has to know.
void TaskRoot::leave(Frame& frame) noexcept {
  if (stand_ == Stand::failed) {
    live_.leaf = &frame;
  } else {
    stand_ = Stand::ended;
  }
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

[[gnu::always_inline]] inline void TaskRoot::set_end(ChildEnd&& end) noexcept {
  if (has_end()) {
    end_ = std::move(end);
    return;
  }
  std::destroy_at(&live_);
  std::construct_at(&end_, std::move(end));
  stand_ = Stand::over;
}

/// Destroys frames from the leaf on upwards until one wants to see the end. Gives: false when none is left: then
/// that is how the task has ended.
[[gnu::noinline]] bool TaskRoot::unwind_to_asker() noexcept {
  while (live_.leaf != nullptr) {
    Awaiter* const awaiter = destroy_leaf();
    if (awaiter != nullptr && awaiter->deliver(worker_->failure())) return true;
  }
  ChildEnd& failure = worker_->failure();
  if (!live_.notes.empty()) failure = with_notes(std::move(failure));
  set_end(std::move(failure));
  if (end_.is_panicked()) failure = ok();  // a move leaves an exception where it is
  return false;
}

void TaskRoot::store(ChildEnd end) noexcept { set_end(std::move(end)); }

/// Out of the way: most tasks are quiet.
[[gnu::noinline]] WaitState TaskRoot::ask_wait() noexcept {
  if (std::exchange(stand_, Stand::waits) == Stand::arrived && port_.is_watched()) port_.reached(*this);
  if (port_.is_quick() && live_.wait->context() == nullptr) return ask_plainly();
  return publish(port_.step(*this, *live_.wait, worker_->failure()));
}

WaitState TaskRoot::ask(kernel::Worker& worker) noexcept {
  enter(worker, id_);
  ChildEnd end = ok();
  return live_.wait == nullptr ? WaitState::pending : port_.step(*this, *live_.wait, end);
}

kernel::AwaitPoint TaskRoot::await_point() const noexcept {
  if (port_.is_shared()) return {.site = last_await_.get(), .resource = waits_for_.get(), .holder = held_by_.get()};
  if (leaf() == nullptr) return {};
  if (live_.wait == nullptr) return {.site = last_await_.get()};
  return {.site = last_await_.get(), .resource = live_.wait->resource(), .holder = live_.wait->holder()};
}

void TaskRoot::ask_for_another_poll() noexcept {
  if (port_.is_quick()) {
    again_ = true;
  } else {
    (void)port_.wake(*worker_, id_);
  }
}

TaskRoot::Progress TaskRoot::poll(kernel::Worker& worker, TaskId id) noexcept { return poll_here(worker, id); }

/// From the leaf on; `outer` stays, parked at what is gone, and can only be destroyed.
void TaskRoot::destroy_up_to(const Frame* outer) noexcept {
  if (live_.wait != nullptr) std::exchange(live_.wait, nullptr)->abandon();
  while (live_.leaf != outer) (void)destroy_leaf();
}

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
    worker_ = &worker;  // it never ran: what its frame holds ends in the poll of the one who tried to start it (OBL-2)
  }
  destroy_up_to(nullptr);
}

}  // namespace calm::cx
