#include "operations.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace calm::reference {
namespace {

struct Row {
  Do what;
  std::string_view name;
  std::uint16_t weight;  // how often, beside the others
};

constexpr Row rows[] = {
    {Do::create_region, "create_region", 40},
    {Do::close, "close", 16},
    {Do::cancel, "cancel", 16},
    {Do::end_body, "end_body", 16},
    {Do::advance, "advance", 8},
    {Do::defer, "defer", 30},
    {Do::await_close, "await_close", 12},
    {Do::forget_close, "forget_close", 4},
    {Do::use_heap, "use_heap", 10},
    {Do::release_region, "release_region", 8},
    {Do::spawn, "spawn", 100},
    {Do::wake, "wake", 50},
    {Do::poll_next, "poll_next", 260},
    {Do::begin_poll, "begin_poll", 20},
    {Do::end_poll, "end_poll", 90},
    {Do::complete, "complete", 90},
    {Do::begin_finalizing, "begin_finalizing", 12},
    {Do::unwound, "unwound", 12},
    {Do::request_cancel, "request_cancel", 30},
    {Do::checkpoint, "checkpoint", 60},
    {Do::enter_mask, "enter_mask", 20},
    {Do::leave_mask, "leave_mask", 20},
    {Do::spend, "spend", 20},
    {Do::deadline_reached, "deadline_reached", 20},
    {Do::await_end, "await_end", 20},
    {Do::forget_end, "forget_end", 6},
    {Do::release_task, "release_task", 20},
    {Do::reserve, "reserve", 50},
    {Do::commit, "commit", 16},
    {Do::abort, "abort", 12},
    {Do::hand_over, "hand_over", 20},
    {Do::drop_token, "drop_token", 16},
    {Do::count, "count", 20},
    {Do::uncount, "uncount", 16},
    {Do::pass_time, "pass_time", 30},
    {Do::call, "call", 10},
    {Do::spin, "spin", 3},
};
static_assert(std::size(rows) == do_count);

constexpr bool rows_are_in_order() {
  for (std::size_t i = 0; i < do_count; ++i) {
    if (static_cast<std::size_t>(rows[i].what) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

/// Weights of one program. What makes a program go on stays; of the rest some are left out and some come often, so that
/// programs differ in kind and not only in detail.
std::array<std::uint32_t, do_count> mixture(Random& random) {
  std::array<std::uint32_t, do_count> weights{};
  for (const Row& row : rows) {
    static constexpr std::uint32_t factors[] = {0, 1, 1, 1, 1, 2, 2, 5};
    const bool always = row.what == Do::spawn || row.what == Do::poll_next;
    weights[static_cast<std::size_t>(row.what)] = row.weight * (always ? 1 : factors[random.below(std::size(factors))]);
  }
  return weights;
}

Do pick(const std::array<std::uint32_t, do_count>& weights, Random& random) {
  std::uint64_t sum = 0;
  for (const std::uint32_t weight : weights) sum += weight;
  std::uint64_t place = random.below(sum);
  std::size_t i = 0;
  while (place >= weights[i]) place -= weights[i++];
  return static_cast<Do>(i);
}

}  // namespace

std::string_view to_string(Do what) noexcept { return rows[static_cast<std::size_t>(what)].name; }

Program make_program(std::uint64_t seed, std::size_t length) {
  Random random(seed);
  Program program;
  program.setup = {.ceilings = static_cast<std::uint8_t>(random.below(8)),
                   .leaks = static_cast<std::uint8_t>(random.below(6)),
                   .tokens = static_cast<std::uint8_t>(random.below(4)),
                   .root = static_cast<std::uint8_t>(random.below(8)),
                   .stubborn = static_cast<std::uint8_t>(random.below(2))};
  const auto weights = mixture(random);
  program.operations.reserve(length);
  while (program.operations.size() < length) {
    const Operation last = program.operations.empty() ? Operation() : program.operations.back();
    Operation next{
        .what = pick(weights, random), .a = random.word(), .b = random.word(), .c = random.word(), .d = random.word()};
    if (last.what == Do::enter_mask && random.below(4) == 0) {  // a mask is worth something to whoever is polled long
      next.what = Do::spin;
      next.a = last.a;
    }
    program.operations.push_back(next);
  }
  return program;
}

std::string as_test(const Program& program, std::string_view what) {
  const Setup& setup = program.setup;
  std::string text =
      fmt::format("TEST(Found, LAB_10_{}) {{\n  expect_same({{{{{}, {}, {}, {}, {}}},\n               {{\n", what,
                  setup.ceilings, setup.leaks, setup.tokens, setup.root, setup.stubborn);
  for (const Operation& operation : program.operations) {
    text += fmt::format("                   {{Do::{}, {}, {}, {}, {}}},\n", to_string(operation.what), operation.a,
                        operation.b, operation.c, operation.d);
  }
  return text + "               }});\n}\n";
}

}  // namespace calm::reference
