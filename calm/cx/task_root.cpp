#include "calm/cx/task_root.hpp"

#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/port.hpp"

namespace calm::cx {

WaitState Wait::cancel(TaskRoot& /*root*/, const Reason& reason, ChildEnd& end) noexcept {
  end = cancelled(reason);
  return WaitState::failed;
}

void TaskRoot::start_with(Frame& frame) noexcept {
  CALM_REQUIRE(TSK_5, leaf_ == nullptr && frame.above == nullptr);
  frame.root = this;
  leaf_ = &frame;
}

/// The frame has failed, or it was the outermost: the loop has to know.
void TaskRoot::leave(Frame& frame) noexcept {
  if (std::exchange(failing_, false)) {
    leaf_ = &frame;
    stand_ = Stand::failed;
  } else {
    stand_ = Stand::ended;
  }
}

/// Destroys the innermost frame; the one around it is that then. Gives: what that one awaited; nullptr when none is left.
Awaiter* TaskRoot::destroy_leaf() noexcept {
  FrameAwaiter* const above = leaf_->above;
  Frame* const frame = std::exchange(leaf_, above == nullptr ? nullptr : &above->frame);
  if (above != nullptr) last_await_.set(above->site);
  frame->coroutine().destroy();
  if (above != nullptr) above->abandon();
  return above;
}

/// Destroys frames from the leaf on upwards until one wants to see the end. Gives: false when none is left.
bool TaskRoot::unwind_to_asker() noexcept {
  while (leaf_ != nullptr) {
    Awaiter* const awaiter = destroy_leaf();
    if (awaiter != nullptr && awaiter->deliver(end_)) return true;
  }
  return false;
}

/// Says what others may know of what the wait has said, and gives that: they do not look into its frames.
[[gnu::always_inline]] inline WaitState TaskRoot::publish(WaitState state) noexcept {
  const bool parked = state == WaitState::pending;
  if (parked) waits_for_.set(wait_->resource());
  if (port_.is_shared()) [[unlikely]] {
    held_by_.set(parked ? wait_->holder() : TaskId());
    if (!parked) waits_for_.set({});
  }
  return state;
}

/// Where nothing can be cancelled and nobody follows the task; what Port::step() does then.
[[gnu::always_inline]] inline WaitState TaskRoot::ask_plainly() noexcept {
  stand_ = Stand::waits;
  return publish(wait_->step(*this, end_));
}

/// Out of the way: most tasks are quiet.
[[gnu::noinline]] WaitState TaskRoot::ask_wait() noexcept {
  if (std::exchange(stand_, Stand::waits) == Stand::arrived && port_.is_watched()) port_.reached(*this);
  if (port_.is_quick() && wait_->context() == nullptr) return ask_plainly();
  return publish(port_.step(*this, *wait_, end_));
}

WaitState TaskRoot::ask(kernel::Worker& worker) noexcept {
  enter(worker, id_);
  ChildEnd end = ok();
  return wait_ == nullptr ? WaitState::pending : port_.step(*this, *wait_, end);
}

kernel::AwaitPoint TaskRoot::await_point() const noexcept {
  if (port_.is_shared()) return {.site = last_await_.get(), .resource = waits_for_.get(), .holder = held_by_.get()};
  if (leaf_ == nullptr) return {};
  if (wait_ == nullptr) return {.site = last_await_.get()};
  return {.site = last_await_.get(), .resource = wait_->resource(), .holder = wait_->holder()};
}

void TaskRoot::ask_for_another_poll() noexcept {
  if (port_.is_quick()) {
    again_ = true;
  } else {
    (void)port_.wake(*worker_, id_);
  }
}

TaskRoot::Progress TaskRoot::poll(kernel::Worker& worker, TaskId id) noexcept {
  enter(worker, id);
  ++polls_;
  if (has_limits()) [[unlikely]]
    count_for_limits();
  ready_ = 0;
  bool asks = wait_ != nullptr;
  if (asks && stand_ == Stand::gave_way && is_quiet()) {
    wait_ = nullptr;
    asks = false;
  }
  for (;; asks = true) {
    if (asks) {
      const WaitState state = is_quiet() ? ask_plainly() : ask_wait();
      if (state == WaitState::pending) return parked();
      Awaiter* const waited = std::exchange(wait_, nullptr);
      if (state == WaitState::failed && !waited->deliver(end_) && !unwind_to_asker()) return Progress::ended;
    }
    handover_.run(leaf_->coroutine());
    while (stand_ == Stand::failed) {
      if (!unwind_to_asker()) return Progress::ended;
      handover_.run(leaf_->coroutine());
    }
    if (stand_ == Stand::waits) return Progress::parked;
    if (stand_ == Stand::gave_way) return Progress::again;
    if (stand_ == Stand::ended) {
      std::exchange(leaf_, nullptr)->coroutine().destroy();
      return Progress::ended;
    }
    if (++ready_ >= ready_in_a_row) {
      ask_for_another_poll();
      return parked();
    }
  }
}

/// From the leaf on; `outer` stays, parked at what is gone, and can only be destroyed.
void TaskRoot::destroy_up_to(const Frame* outer) noexcept {
  if (wait_ != nullptr) std::exchange(wait_, nullptr)->abandon();
  while (leaf_ != outer) (void)destroy_leaf();
}

RegionId TaskRoot::drop_inside_scope(kernel::Worker& worker, TaskId id) noexcept {
  auto* const scope = Fixture::first<OpenScope>(fixtures_);
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
