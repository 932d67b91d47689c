// Asio with C++20 awaitables.
#include "bench/peers/asio.hpp"

#include <thread>
#include <vector>

#include "bench/peers/bystander.hpp"

namespace bench::peers::with_asio {
namespace {

Task<void> rounds(const Asked& asked, Function* function, Report& report, bool& right) {
  for (int i = 0; i < asked.rounds && right; ++i) {
    Round round(asked.size);
    const std::uint64_t answer = co_await function(round);
    right = report.add(round, answer);
  }
}

bool run_with_asio(const Asked& asked, Function* function, Report& report) {
  const Bystander bystander;
  Context here{asio::io_context(asked.workers), asked.workers};
  context = &here;
  bool right = true;
  spawn(rounds(asked, function, report, right));
  std::vector<std::jthread> others;
  for (int i = 1; i < asked.workers; ++i) others.emplace_back([&here] { here.io.run(); });
  here.io.run();
  return right;
}

}  // namespace
}  // namespace bench::peers::with_asio

int main(int argc, char** argv) {
  namespace with_asio = bench::peers::with_asio;
  return bench::peers::main<with_asio::Function>(argc, argv, UINT16_MAX, with_asio::run_with_asio);
}
