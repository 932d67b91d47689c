#include "calm/cx/blocking.hpp"

#include "calm/check/probe.hpp"

namespace calm::cx {

// --- the job ---

void BlockingJob::wait_as(TaskRoot& root) noexcept {
  port_ = &root.port();
  task_ = root.id();
  gateway_ = root.port().gateway();
}

void BlockingJob::await_end() const noexcept {
  while (!has_ended()) lockfree::RealAtomics::wait(ended_, std::uint32_t{0});
}

void BlockingJob::finish() noexcept {
  // The task may go on from here, and drop its reference.
  const mem::Ref<Gateway> gateway = std::move(gateway_);
  ended_.store(1, std::memory_order_release);  // [B1]
  lockfree::RealAtomics::notify_all(ended_);
  if (!gateway->hand_in(*this)) run(nullptr);
}

void BlockingJob::run(kernel::Worker* worker) noexcept {
  const auto gone = mem::Ref<BlockingJob>::adopt(this);
  if (worker == nullptr) return;
  told_ = true;
  (void)port_->wake(*worker, task_);  // a stale task saw the end by itself
}

void BlockingJob::call_here() noexcept {
  if (has_ended()) return;
  call();
  ended_.store(1, std::memory_order_release);  // [B1]
}

void BlockingJob::tell_here(kernel::Worker& worker) noexcept {
  told_ = true;
  (void)port_->wake(worker, task_);
}

// --- the wait ---

namespace {

Error refusal(Submitted why) {
  if (why == Submitted::no_thread) {
    return Error(
        Errc::resource_exhausted,
        "a blocking call was refused: there is no thread for it, and the system gives none [IO-4]; next: look at "
        "what the process may have in threads and memory, or ask for smaller stacks (RunOptions::stack_bytes)");
  }
  return Error(Errc::resource_exhausted,
               "a blocking call was refused: as many wait as RunOptions::blocking allows [IO-4]; next: let fewer "
               "tasks call at once, with a semaphore or a bulkhead");
}

}  // namespace

WaitState BlockingWaitBase::step(TaskRoot& root, ChildEnd& end) noexcept {
  switch (stage_) {
    case Stage::new_here:
      door_ = root.port().blocking_door();
      if (door_ == nullptr) {
        stage_ = Stage::next_step;
        (void)root.port().wake(root.worker(), root.id());
        return WaitState::pending;
      }
      job_.wait_as(root);
      if (const Submitted submitted = door_->submit(job_); submitted != Submitted::taken) {
        stage_ = Stage::over;
        end = err(refusal(submitted));
        return WaitState::failed;
      }
      stage_ = Stage::given_away;
      return WaitState::pending;
    case Stage::given_away:
      if (!is_over()) return WaitState::pending;
      stage_ = Stage::over;
      return WaitState::ready;
    case Stage::next_step:
      job_.call();
      stage_ = Stage::over;
      return WaitState::ready;
    case Stage::over:
      break;
  }
  return WaitState::ready;
}

WaitState BlockingWaitBase::cancel(TaskRoot& root, Reason& reason, ChildEnd& end) noexcept {
  if (stage_ == Stage::over) return WaitState::ready;
  if (stage_ == Stage::given_away && !door_->withdraw(job_)) {
    job_.request_stop();
    return step(root, end);
  }
  CALM_PROBE("blocking: withdrawn");
  stage_ = Stage::over;
  return Wait::cancel(root, reason, end);
}

bool BlockingWaitBase::take_back() noexcept {
  if (stage_ != Stage::given_away) return true;
  if (!is_over() && !door_->withdraw(job_)) {
    job_.request_stop();
    return false;
  }
  stage_ = Stage::over;
  return true;
}

/// With take_back() before it no frame is dropped here whose call goes on: only the lab drops one unasked.
BlockingWaitBase::~BlockingWaitBase() {
  if (stage_ != Stage::given_away || door_->withdraw(job_)) return;
  job_.request_stop();
  door_->await_end(job_);
}

}  // namespace calm::cx
