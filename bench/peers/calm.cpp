// calm on its host of real time, in the flavour that suits the number of workers; and, under a second name, in the one for several
// workers with one of them.
#include "bench/peers/calm.hpp"

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "bench/peers/bystander.hpp"
#include "calm/runtime/run.hpp"

namespace bench::peers {
namespace {

/// Called by this name it is the runtime for several workers with one, whose words are made for several threads.
bool is_multi_worker_on_one() noexcept {
  return std::string_view(program_invocation_short_name).ends_with("_calm_multi");
}

calm::RunOptions options_for(std::uint16_t workers) {
  calm::RunOptions options;
  options.workers = workers;
  if (is_multi_worker_on_one()) options.flavour = calm::Flavour::multi_worker;
  return options;
}

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
  const Bystander bystander;
  return calm::block_on(CalmRounds{asked, function, report}, options_for(asked.workers)).value();
}

}  // namespace
}  // namespace bench::peers

int main(int argc, char** argv) {
  namespace peers = bench::peers;
  const std::uint16_t workers_max = peers::is_multi_worker_on_one() ? 1 : UINT16_MAX;
  return peers::main<peers::CalmFunction>(argc, argv, workers_max, peers::run_with_calm);
}
