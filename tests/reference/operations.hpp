// operations.hpp — random programs for the kernel: small values, each of which means something in every state.
// Laws:    LAB-10
// Threads: values
// Cancel:  cancels at every point are among the operations
//
// An operation names no record. It says "the third of those there are", and takes the number modulo how many there are,
// so a sequence still runs when operations are taken out of it. Stale ids, wrong states and second resolutions come by
// the same road. The generator is splitmix64 and its own arithmetic: a seed gives the same program everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace calm::reference {

enum class Do : std::uint8_t {
  create_region,
  close,
  cancel,
  end_body,
  advance,
  defer,
  await_close,
  forget_close,
  use_heap,
  release_region,
  spawn,
  wake,
  poll_next,   ///< begin_poll of the oldest queue entry
  begin_poll,  ///< begin_poll of any task, as a joiner that claims it does
  end_poll,
  complete,
  begin_finalizing,
  unwound,
  request_cancel,
  checkpoint,
  enter_mask,
  leave_mask,
  spend,
  deadline_reached,
  await_end,
  forget_end,
  release_task,
  reserve,
  commit,
  abort,
  hand_over,
  drop_token,
  count,
  uncount,
  pass_time,
  spin,  ///< wake, begin_poll, end_poll, many times: to the end of quotas and of the caps of masks
};
inline constexpr std::size_t do_count = static_cast<std::size_t>(Do::spin) + 1;

std::string_view to_string(Do what) noexcept;

/// `a` chooses the record, `b` a second one, `c` and `d` say how; what they mean stands in side_by_side.cpp.
struct Operation {
  Do what = Do::wake;
  std::uint16_t a = 0;
  std::uint16_t b = 0;
  std::uint16_t c = 0;
  std::uint16_t d = 0;

  friend constexpr bool operator==(const Operation&, const Operation&) noexcept = default;
};

/// What the kernel is made with; each field chooses among a few values.
struct Setup {
  std::uint8_t ceilings = 0;
  std::uint8_t leaks = 0;
  std::uint8_t tokens = 0;
  std::uint8_t root = 0;
  std::uint8_t stubborn = 0;  ///< at the end: tasks end when they are polled (0), or not before they are forced
  std::uint8_t trace = 0;     ///< events that are kept: the last 64 (0), or all

  friend constexpr bool operator==(const Setup&, const Setup&) noexcept = default;
};

struct Program {
  Setup setup{};
  std::vector<Operation> operations;
};

/// splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15U);
    z = (z ^ z >> 30U) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27U) * 0x94D049BB133111EBU;
    return z ^ z >> 31U;
  }
  /// Gives: a number below `end`. Needs: above 0.
  std::uint64_t below(std::uint64_t end) noexcept { return next() % end; }
  std::uint16_t word() noexcept { return static_cast<std::uint16_t>(next()); }

 private:
  std::uint64_t state_;
};

/// Gives: the program of a seed. Every program has its own mixture: some operations often, some never.
Program make_program(std::uint64_t seed, std::size_t length);

/// Gives: the program as a test, ready to be put into found_test.cpp.
std::string as_test(const Program& program, std::string_view what);

}  // namespace calm::reference
