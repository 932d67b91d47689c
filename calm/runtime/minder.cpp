#include "calm/runtime/minder.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include "calm/runtime/monotonic.hpp"

namespace calm::runtime {
namespace {

constexpr int signals[] = {SIGINT, SIGTERM, SIGUSR1};

// Who has the signals, and what they did before.
std::atomic<Minder*> owner{nullptr};
struct sigaction before[std::size(signals)];

}  // namespace

Minder::Minder(const RunOptions& options, Control& control)
    : options_(options), control_(control), within_ns_(options.shutdown_time.ns()) {
  (void)sem_init(&bell_, 0, 0);
}

Status Minder::start() {
  try {
    thread_ = std::thread([this] { mind(); });
  } catch (const std::exception&) {  // std::system_error, std::bad_alloc
    return Errc::resource_exhausted;
  }
  return {};
}

void Minder::begin() noexcept {
  if (!std::exchange(has_begun_, true)) begins_.release();
}

void Minder::watch_polls(Engine& engine, bool rescues, bool at_once) {
  const Duration tell = std::max(options_.stall_limit.value_or(default_stall_limit), Duration());
  const Duration rescue = rescues ? options_.rescue_after : Duration();
  if (tell == Duration() && rescue == Duration()) return;
  stalls_ = StallWatch(engine.poll_watches(), {.tell = tell, .rescue = rescue});
  engine_ = &engine;
  watches_later_ = !at_once;
  if (at_once) watch_from_now_on();
}

void Minder::watch_from_now_on() {
  if (engine_ == nullptr || std::exchange(watches_, true)) return;
  look_at_ = monotonic_now();
}

void Minder::main_has_ended() noexcept {
  if (!watches_later_) return;
  // Without a thread nobody looks; the run goes on all the same.
  if (thread_.joinable() || start()) call(ending);
}

void Minder::work_begins() noexcept {
  if (vigil_.begins()) call(look);
}

void Minder::look_at_polls() {
  const std::string text = stalls_.look(monotonic_now());
  if (!text.empty()) {
    std::fputs(text.c_str(), stderr);
    // How long a poll may take on a busy machine who wrote the program knows: without a limit of theirs it is only told.
    if (options_.on_stall == OnStall::abort && options_.stall_limit) std::abort();
  }
  for (const StallWatch::Stuck& stuck : stalls_.stuck()) engine_->rescue(stuck.worker, stuck.round);
  if (stalls_.saw_work()) {
    look_at_ = monotonic_now() + stalls_.pause();
    return;
  }
  // Before it sleeps for good it looks once more: a worker that began while it still looked did not call.
  const auto look_again = [this] {
    (void)stalls_.look(monotonic_now());
    return stalls_.saw_work();
  };
  if (vigil_.rests(look_again)) {
    look_at_ = monotonic_now() + stalls_.pause();
  } else {
    look_at_.reset();
  }
}

void Minder::dismiss() noexcept {
  if (has_signals_) {
    for (std::size_t i = 0; i < std::size(signals); ++i) (void)sigaction(signals[i], &before[i], nullptr);
    owner.store(nullptr, std::memory_order_seq_cst);
    has_signals_ = false;
  }
  if (thread_.joinable()) {
    call(dismissed);
    begin();  // where the run never did
    thread_.join();
  }
}

Minder::~Minder() {
  dismiss();
  (void)sem_destroy(&bell_);
}

Status Minder::take_signals() {
  if (!options_.signals) return {};
  Minder* nobody = nullptr;
  if (!owner.compare_exchange_strong(nobody, this)) return Errc::busy;
  has_signals_ = true;
  struct sigaction action{};
  action.sa_handler = &Minder::on_signal;
  action.sa_flags = SA_RESTART;
  (void)sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < std::size(signals); ++i) (void)sigaction(signals[i], &action, &before[i]);
  return {};
}

/// Only what a handler may do: atomics and sem_post().
void Minder::on_signal(int number) noexcept {
  const int error = errno;
  if (Minder* const minder = owner.load(std::memory_order_seq_cst); minder != nullptr) {
    if (number == SIGUSR1) {
      minder->call(show);
    } else {
      const bool again = minder->signal_.exchange(number, std::memory_order_seq_cst) != 0;
      minder->call(again ? stop_now : stop);
    }
  }
  errno = error;
}

void Minder::call(std::uint32_t what) noexcept {
  calls_.fetch_or(what, std::memory_order_seq_cst);
  (void)sem_post(&bell_);
}

void Minder::shut_down(Duration within) noexcept {
  within_ns_.store(within.ns(), std::memory_order_seq_cst);
  call(stop);
}

void Minder::sleep() noexcept {
  const std::optional<Time> next = told_by_ && look_at_ ? std::min(*told_by_, *look_at_)
                                   : told_by_           ? told_by_
                                                        : look_at_;
  if (!next) {
    while (sem_wait(&bell_) != 0 && errno == EINTR) {
    }
    return;
  }
  const std::uint64_t at = next->ns();
  const timespec until{static_cast<time_t>(at / 1'000'000'000), static_cast<long>(at % 1'000'000'000)};
  while (sem_clockwait(&bell_, CLOCK_MONOTONIC, &until) != 0 && errno == EINTR) {
  }
}

void Minder::mind() {
  begins_.acquire();
  for (;;) {
    sleep();
    const std::uint32_t calls = calls_.exchange(0, std::memory_order_seq_cst);
    if ((calls & dismissed) != 0) return;
    if ((calls & show) != 0) std::fprintf(stderr, "%s\n", control_.inspect().c_str());
    if ((calls & stop) != 0) begin_shutdown();
    if ((calls & stop_now) != 0) {
      tell_stragglers("a second signal ends the process");
      (void)std::signal(signal_.load(), SIG_DFL);
      (void)std::raise(signal_.load());
    }
    if ((calls & ending) != 0) watch_from_now_on();
    if ((calls & look) != 0) look_at_ = monotonic_now() + stalls_.pause();
    if (look_at_ && monotonic_now() >= *look_at_) look_at_polls();
    if (told_by_ && monotonic_now() >= *told_by_) {
      told_by_.reset();
      tell_stragglers("the shutdown takes longer than it may");
      if (options_.on_stall == OnStall::abort) std::abort();
    }
  }
}

void Minder::begin_shutdown() {
  if (!control_.shut_down()) return;  // asked for, not done: who minds the workers does not wait for one in a poll
  watch_from_now_on();
  told_by_ = monotonic_now() + Duration::nanoseconds(within_ns_.load(std::memory_order_seq_cst));
}

void Minder::tell_stragglers(const char* why) {
  std::fprintf(stderr, "calm: %s [QUI-3]\n%s\n", why, control_.stragglers().c_str());
}

}  // namespace calm::runtime
