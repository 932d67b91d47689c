#include "calm/lockfree/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

namespace calm::lockfree {
namespace {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t) &&
              std::atomic<std::uint32_t>::is_always_lock_free);  // the kernel reads the same four bytes

constexpr std::uint64_t second_ns = 1'000'000'000;

}  // namespace

FutexEnd RealFutex::wait(const std::atomic<std::uint32_t>& word, std::uint32_t old, std::uint64_t until_ns) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC; plain FUTEX_WAIT would take a relative one, and lose what
  // passes between reading the clock and the call.
  timespec until{};
  until.tv_sec = static_cast<time_t>(until_ns / second_ns);
  until.tv_nsec = static_cast<decltype(until.tv_nsec)>(until_ns % second_ns);
  const long result = syscall(SYS_futex, &word, FUTEX_WAIT_BITSET_PRIVATE, old, until_ns == never_ns ? nullptr : &until,
                              nullptr, FUTEX_BITSET_MATCH_ANY);
  return result == -1 && errno == ETIMEDOUT ? FutexEnd::timed_out : FutexEnd::woken;
}

void RealFutex::wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  (void)syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, count > INT_MAX ? INT_MAX : count, nullptr, nullptr, 0);
}

}  // namespace calm::lockfree
