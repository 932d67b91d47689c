// The floor of calls: plain functions that are not inlined; a failure is a code that each passes on.
#include <cstdint>

#include "bench/coroutine/workload.hpp"

namespace {

[[gnu::noinline]] std::uint64_t child(std::uint64_t number) {
  asm volatile("");  // keeps the call
  return number;
}

std::uint64_t call_children(std::uint64_t operations, bench::Stopwatch& watch) {
  std::uint64_t sum = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; ++i) sum += child(i);
  watch.stop();
  return sum;
}

struct Result {
  std::uint64_t number;
  std::uint64_t code;  ///< 0: none
};

[[gnu::noinline]] Result nested(int level, std::uint64_t& left, std::uint64_t code) {
  const bench::Leaving leaving(left);
  if (level == 1) return {.number = 1, .code = code};
  const Result result = nested(level - 1, left, code);
  if (result.code != 0) return result;
  return {.number = result.number + 1, .code = 0};
}

template <std::uint64_t code>
std::uint64_t call_nests(std::uint64_t operations, bench::Stopwatch& watch) {
  std::uint64_t sum = 0;
  std::uint64_t left = 0;
  watch.start();
  for (std::uint64_t i = 0; i < operations; i += bench::depth) {
    const Result result = nested(bench::depth, left, code);
    sum += code == 0 ? result.number : result.code;
  }
  watch.stop();
  return sum + left;
}

constexpr bench::PartWork parts[] = {
    {"child", call_children}, {"nest", call_nests<0>}, {"leave", call_nests<bench::failure_code>}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
