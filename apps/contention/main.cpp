// main.cpp — one run of one workload on one of the two kernels. tools/contention.py calls it and draws what it prints.
//
// contention BUILD WORKLOAD WORKERS (seconds|rounds) AMOUNT      BUILD is sharded or one_mutex
//
// Prints one JSON object: what was asked for, rounds, polls, ns; with lock metrics also histograms and records of lock
// operations, who was cancelled, and what became of promises. Exit: 0; 1 when the answer is wrong; 2 for words that are off.
#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>
#include <system_error>

#include "apps/contention/workload.hpp"
#include "calm/kernel/lock_metrics.hpp"
#include "calm/kernel/shard.hpp"

namespace {

using calm::contention::Order;
using calm::contention::Result;
using calm::contention::WorkloadRow;

template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  return read.ec == std::errc() && read.ptr == text.data() + text.size() && number > 0;
}

int refuse() {
  fmt::print(
      stderr,
      "usage: contention (sharded|one_mutex) (polling|spawn|commit|cancel|snapshot) WORKERS (seconds|rounds) AMOUNT\n");
  return 2;
}

int run(int argc, char** argv) {
  if (argc != 6) return refuse();
  const std::string_view build = argv[1];
  const WorkloadRow* const row = calm::contention::find_workload(argv[2]);
  const std::string_view unit = argv[4];
  Order order;
  if ((build != "sharded" && build != "one_mutex") || row == nullptr || !read_number(argv[3], order.workers) ||
      order.workers > calm::kernel::workers_max) {
    return refuse();
  }
  const bool amount =
      unit == "seconds" ? read_number(argv[5], order.seconds) : unit == "rounds" && read_number(argv[5], order.rounds);
  if (!amount) return refuse();
  order.workload = row->workload;
  const Result result = build == "sharded" ? run_sharded(order) : run_one_mutex(order);
  if (!result.wrong.empty()) {
    fmt::print(stderr, "calm: {} on {} with {} workers: {}\n", row->name, build, order.workers, result.wrong);
    return 1;
  }
  fmt::print(R"({{"build":"{}","workload":"{}","workers":{},"metered":{},"rounds":{},"polls":{},"ns":{}{}}})"
             "\n",
             build, row->name, order.workers, calm::kernel::lock_metrics_on, result.rounds,
             result.rounds * calm::contention::polls_per_round, result.ns, result.evidence);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "contention: %s\n", exception.what());
    return 1;
  }
}
