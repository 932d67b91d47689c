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

#include "calm/model/split_mix.hpp"

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
  call,  ///< something outside begins to use the frame of a task, or has ended that
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

/// Numbers for a program, from its seed.
class Random : public SplitMix {
 public:
  using SplitMix::SplitMix;
  std::uint16_t word() noexcept { return static_cast<std::uint16_t>(next()); }
};

/// Gives: the program of a seed. Every program has its own mixture: some operations often, some never.
Program make_program(std::uint64_t seed, std::size_t length);

/// Gives: the program as a test, ready to be put into found_test.cpp.
std::string as_test(const Program& program, std::string_view what);

}  // namespace calm::reference
