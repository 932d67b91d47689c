#include "calm/runtime/blocking_pool.hpp"

#include <chrono>
#include <new>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"

namespace calm::runtime {
namespace {

using Rest = lockfree::JobCalls<>::Rest;

/// For as long as it lives.
class Held {
 public:
  explicit Held(lockfree::Lock<>& lock) noexcept : lock_(lock) { lock_.lock(); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { lock_.unlock(); }

 private:
  lockfree::Lock<>& lock_;
};

std::uint64_t monotonic_ns_in(Duration duration) noexcept {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count() + duration.ns());
}

}  // namespace

BlockingPool::BlockingPool(const RunOptions& options) : options_(options) { options_.name = "calm-block"; }

BlockingPool::~BlockingPool() {
  CALM_INVARIANT(IO_4, first_ == nullptr);
  {
    const Held held(lock_);  // no thread leaves the list any more
    calls_.say_end();
  }
  calls_.call_all();
  for (Member& member : members_) member.thread.join();
  for (Member& member : left_) member.thread.join();
}

std::uint32_t BlockingPool::threads() const noexcept {
  const Held held(lock_);
  return started_;
}

// --- jobs ---

cx::Submitted BlockingPool::submit(cx::BlockingJob& job) noexcept {
  join_those_who_left();
  {
    const Held held(lock_);
    const std::uint32_t waiting = calls_.waiting();
    if (waiting >= options_.blocking.queue_max) return cx::Submitted::no_place;
    if (waiting + 1 > started_ - busy_ && started_ < options_.blocking.threads_max) start_one();
    if (started_ == 0) {  // nobody would come for it
      CALM_PROBE("blocking pool: there is no thread, and none can be started");
      return cx::Submitted::no_thread;
    }
    job.retain();
    job.is_queued = true;
    job.before = last_;
    job.after = nullptr;
    (last_ == nullptr ? first_ : last_->after) = &job;
    last_ = &job;
    calls_.add();
  }
  calls_.call_one();
  return cx::Submitted::taken;
}

bool BlockingPool::withdraw(cx::BlockingJob& job) noexcept {
  {
    const Held held(lock_);
    if (!job.is_queued) return false;
    unlink(job);
  }
  (void)mem::Ref<cx::BlockingJob>::adopt(&job);
  return true;
}

void BlockingPool::unlink(cx::BlockingJob& job) noexcept {
  (job.before == nullptr ? first_ : job.before->after) = job.after;
  (job.after == nullptr ? last_ : job.after->before) = job.before;
  job.is_queued = false;
  calls_.remove();
}

// --- threads ---

/// Needs: the lock. Where there is no memory or no thread for it the others must do.
void BlockingPool::start_one() noexcept {
  std::list<Member> fresh;
  try {
    fresh.emplace_back();
  } catch (const std::bad_alloc&) {
    return;
  }
  Member& member = fresh.front();
  member.pool = this;
  member.place = fresh.begin();
  const auto body = [](void* context) {
    auto& self = *static_cast<Member*>(context);
    self.pool->serve(self);
  };
  if (!member.thread.start(options_, next_number_++, body, &member)) return;
  members_.splice(members_.end(), fresh);
  ++started_;
}

void BlockingPool::join_those_who_left() noexcept {
  std::list<Member> left;
  {
    const Held held(lock_);
    left.swap(left_);
  }
  for (Member& member : left) member.thread.join();
}

void BlockingPool::serve(Member& self) noexcept {
  for (;;) {
    if (cx::BlockingJob* const job = take()) {
      job->call();
      end_one();  // before the task goes on: it may have the next call at once
      job->finish();
      continue;
    }
    switch (calls_.rest(monotonic_ns_in(options_.blocking.idle_time))) {
      case Rest::work:
        break;
      case Rest::end:
        return;
      case Rest::idle:
        if (leave(self)) return;
        break;
    }
  }
}

cx::BlockingJob* BlockingPool::take() noexcept {
  const Held held(lock_);
  cx::BlockingJob* const job = first_;
  if (job == nullptr) return nullptr;
  unlink(*job);
  ++busy_;
  return job;
}

void BlockingPool::end_one() noexcept {
  const Held held(lock_);
  --busy_;
}

/// Gives: false when a job has come meanwhile, or the pool ends and will join it.
bool BlockingPool::leave(Member& self) noexcept {
  const Held held(lock_);
  if (first_ != nullptr || calls_.is_over()) return false;
  CALM_PROBE("blocking pool: an idle thread leaves");
  --started_;
  left_.splice(left_.end(), members_, self.place);
  return true;
}

}  // namespace calm::runtime
