// The way of exceptions: calm's coroutines, but the innermost throws, and every co_await on the way rethrows.
#include <exception>
#include <utility>

#include "bench/coroutine/workload.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/task.hpp"
#include "calm/runtime/run.hpp"

namespace {

class Failure : public std::exception {
 public:
  explicit Failure(std::uint64_t code) noexcept : code_(code) {}
  [[nodiscard]] std::uint64_t code() const noexcept { return code_; }

 private:
  std::uint64_t code_;
};

[[gnu::noinline]] calm::Task<std::uint64_t> failing(int level, std::uint64_t& left) {
  const bench::Leaving leaving(left);
  if (level == 1) throw Failure(bench::failure_code);
  const std::uint64_t number = co_await failing(level - 1, left);
  co_return number + 1;
}

struct SeeFailures {
  std::uint64_t operations;
  bench::Stopwatch& watch;
  calm::Task<std::uint64_t> operator()(calm::Cx /*cx*/) const {
    std::uint64_t sum = 0;
    std::uint64_t left = 0;
    watch.start();
    for (std::uint64_t i = 0; i < operations; i += bench::depth) {
      try {
        sum += co_await failing(bench::depth, left);
      } catch (const Failure& failure) {
        sum += failure.code();
      }
    }
    watch.stop();
    co_return sum + left;
  }
};

std::uint64_t see_failures(std::uint64_t operations, bench::Stopwatch& watch) {
  return calm::block_on(SeeFailures{operations, watch}).value();
}

constexpr bench::PartWork parts[] = {{"leave", see_failures}};

}  // namespace

int main(int argc, char** argv) { return bench::measure_part(argc, argv, parts); }
