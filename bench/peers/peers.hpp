// peers.hpp — a contender of the peer workloads in C++: reads what is asked, times the rounds, checks answers, prints a line.
//
//   bench_peers_<contender> WORKLOAD WORKERS SIZE ANSWER ROUNDS
//
// bench/README.md describes arguments, output and exit codes; every contender in every language keeps to them.
#pragma once

#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace bench::peers {

/// Exit code of a contender that does not do a workload, or not with so many workers.
inline constexpr int not_done = 77;

struct Asked {
  std::string_view workload;
  std::uint16_t workers;
  std::uint64_t size;
  std::uint64_t answer;
  int rounds;
};

inline std::uint64_t read_clock(clockid_t clock) noexcept {
  timespec time{};
  clock_gettime(clock, &time);
  return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000) + static_cast<std::uint64_t>(time.tv_nsec);
}

/// One round, timed from here to stop(): the time that passed, and the processor time of all threads.
class Round {
 public:
  explicit Round(std::uint64_t how_much) noexcept : size(how_much) { restart(); }

  const std::uint64_t size;

  /// What was done until here does not count.
  void restart() noexcept {
    wall_ns_ = read_clock(CLOCK_MONOTONIC);
    cpu_ns_ = read_clock(CLOCK_PROCESS_CPUTIME_ID);
  }
  /// What was done up to here counts, and no more. A second time it does nothing.
  void stop() noexcept {
    if (stopped_) return;
    stopped_ = true;
    wall_ns_ = read_clock(CLOCK_MONOTONIC) - wall_ns_;
    cpu_ns_ = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns_;
  }
  /// What counts is this number, and not the time.
  void measured(std::uint64_t amount) noexcept {
    stop();
    wall_ns_ = amount;
  }

  [[nodiscard]] std::uint64_t wall_ns() const noexcept { return wall_ns_; }
  [[nodiscard]] std::uint64_t cpu_ns() const noexcept { return cpu_ns_; }

 private:
  std::uint64_t wall_ns_ = 0;
  std::uint64_t cpu_ns_ = 0;
  bool stopped_ = false;
};

/// Gives: the bytes of this process that are in memory.
inline std::uint64_t resident_bytes() {
  unsigned long long all = 0;
  unsigned long long resident = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr || std::fscanf(file, "%llu %llu", &all, &resident) != 2) std::abort();
  std::fclose(file);
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

/// What the rounds came to.
class Report {
 public:
  explicit Report(const Asked& asked) : asked_(asked) {}

  /// Gives: false when the answer is wrong.
  [[nodiscard]] bool add(Round& round, std::uint64_t answer) {
    round.stop();
    if (answer != asked_.answer) {
      std::fprintf(stderr, "%s answers %llu and not %llu\n", std::string(asked_.workload).c_str(),
                   static_cast<unsigned long long>(answer), static_cast<unsigned long long>(asked_.answer));
      return false;
    }
    const char* const comma = wall_.empty() ? "" : ", ";
    wall_ += comma + std::to_string(round.wall_ns());
    cpu_ += comma + std::to_string(round.cpu_ns());
    return true;
  }
  void print() const {
    std::printf("{\"answer\": %llu, \"ns\": [%s], \"cpu_ns\": [%s]}\n", static_cast<unsigned long long>(asked_.answer),
                wall_.c_str(), cpu_.c_str());
  }

 private:
  Asked asked_;
  std::string wall_;
  std::string cpu_;
};

/// How a contender does a workload; it registers itself: `const Work<Function> fib_work("fib", fib);`
template <class Function>
class Work {
 public:
  Work(std::string_view name, Function* function) noexcept : name_(name), function_(function), next_(first) {
    first = this;
  }
  [[nodiscard]] static Function* find(std::string_view name) noexcept {
    for (const Work* work = first; work != nullptr; work = work->next_) {
      if (work->name_ == name) return work->function_;
    }
    return nullptr;
  }

 private:
  static inline const Work* first = nullptr;

  std::string_view name_;
  Function* function_;
  const Work* next_;
};

/// The main function of a contender. `run(asked, function, report)` does all rounds and gives false after a wrong answer.
template <class Function, class Run>
int main(int argc, char** argv, std::uint16_t workers_max, const Run& run) {
  if (argc != 6) {
    std::fputs("usage: WORKLOAD WORKERS SIZE ANSWER ROUNDS\n", stderr);
    return 2;
  }
  const auto number = [argv](int index) { return std::strtoull(argv[index], nullptr, 10); };
  const Asked asked{argv[1], static_cast<std::uint16_t>(number(2)), number(3), number(4), static_cast<int>(number(5))};
  Function* const function = Work<Function>::find(asked.workload);
  if (function == nullptr || asked.workers > workers_max) return not_done;
  Report report(asked);
  if (!run(asked, function, report)) return 1;
  report.print();
  return 0;
}

}  // namespace bench::peers
