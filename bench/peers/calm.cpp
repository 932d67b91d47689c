// calm on its host of real time; with more than one worker where RunOptions has them.
#include "bench/peers/calm.hpp"

#include <concepts>
#include <type_traits>

#include "calm/runtime/run.hpp"

namespace bench::peers {
namespace {

template <class Options>
concept HasWorkers = requires(Options options) { options.workers; };

template <class Options>
Options with_workers(std::uint16_t workers) {
  Options options;
  if constexpr (HasWorkers<Options>) options.workers = workers;
  return options;
}
constexpr std::uint16_t calm_workers_max = HasWorkers<calm::RunOptions> ? UINT16_MAX : 1;

struct CalmRounds {
  const Asked& asked;
  CalmFunction* function;
  Report& report;

  calm::Task<bool> operator()(calm::Cx cx) const {
    for (int i = 0; i < asked.rounds; ++i) {
      Round round(asked.size);
      const std::uint64_t answer = co_await function(cx, round);
      if (!report.add(round, answer)) co_return false;
    }
    co_return true;
  }
};

bool run_with_calm(const Asked& asked, CalmFunction* function, Report& report) {
  const auto options = with_workers<calm::RunOptions>(asked.workers);
  return calm::block_on(CalmRounds{asked, function, report}, options).value();
}

}  // namespace
}  // namespace bench::peers

int main(int argc, char** argv) {
  namespace peers = bench::peers;
  return peers::main<peers::CalmFunction>(argc, argv, peers::calm_workers_max, peers::run_with_calm);
}
