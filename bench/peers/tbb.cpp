// oneTBB: tasks that run to their end and never wait for anything but other tasks.
#include "bench/peers/tbb.hpp"

#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>

#include "bench/peers/bystander.hpp"

namespace bench::peers::with_tbb {
namespace {

bool run_with_tbb(const Asked& asked, Function* function, Report& report) {
  const Bystander bystander;
  const oneapi::tbb::global_control limit(oneapi::tbb::global_control::max_allowed_parallelism, asked.workers);
  oneapi::tbb::task_arena arena(asked.workers);
  return arena.execute([&] {
    for (int i = 0; i < asked.rounds; ++i) {
      Round round(asked.size);
      const std::uint64_t answer = function(round);
      if (!report.add(round, answer)) return false;
    }
    return true;
  });
}

}  // namespace
}  // namespace bench::peers::with_tbb

int main(int argc, char** argv) {
  namespace with_tbb = bench::peers::with_tbb;
  return bench::peers::main<with_tbb::Function>(argc, argv, UINT16_MAX, with_tbb::run_with_tbb);
}
