// calm_programs — the random programs by hand.
//
//   calm_programs --seed N [COUNT]              shows the program, runs it twice, says what broke and shrinks it
//   calm_programs --trouble N [COUNT]           the same with a cancel, needless wakes, clock jumps or a failed allocation
//   calm_programs --threads W N [COUNT]         runs them on W workers of the production runtime, four at a time
//   calm_programs --digests FILE [N [COUNT]]    writes one line a seed, for `diff` between builds; from N = 1, COUNT = 2000
//
// Exit: 0 when all is well; 1 when a law broke; 2 with one line: bad usage.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "program_campaign.hpp"
#include "program_threads.hpp"

namespace calm::programs {
namespace {

int usage() {
  std::fputs(
      "calm_programs: use --seed N [COUNT], --trouble N [COUNT], --threads W N [COUNT] or --digests FILE [N [COUNT]]\n",
      stderr);
  return 2;
}

std::uint64_t number_at(const std::vector<std::string>& words, std::size_t at, std::uint64_t otherwise) {
  return at < words.size() ? std::strtoull(words[at].c_str(), nullptr, 10) : otherwise;
}

void print_coverage(const Coverage& coverage) {
  for (std::size_t i = 0; i < do_count; ++i)
    fmt::print("  {} {}", to_string(static_cast<Do>(i)), coverage.statements[i]);
  fmt::print("\n");
  for (const trace::EventKindRow& row : trace::event_kind_table) {
    fmt::print("  {} {}", row.name, coverage.events[static_cast<std::size_t>(row.kind)]);
  }
  fmt::print("\n");
  for (std::size_t i = 0; i < coverage.cancels.size(); ++i) {
    fmt::print("  {} {}", to_string(static_cast<CancelKind>(i)), coverage.cancels[i]);
  }
  fmt::print("\n");
  for (std::size_t i = 0; i < coverage.ends.size(); ++i) {
    fmt::print("  {} {}", to_string(static_cast<OutcomeKind>(i)), coverage.ends[i]);
  }
  fmt::print("\n");
}

int show(std::uint64_t first, std::uint64_t count, Trouble trouble) {
  if (count == 1) fmt::print("{}", to_string(make_program(first)));
  const Campaign ran = campaign(first, count, trouble);
  fmt::print("{}", ran.said.empty() ? fmt::format("all is well: {} programs, {} steps, digest {:#018x}\n", count,
                                                  ran.steps, ran.digest)
                                    : ran.said);
  if (count > 1) print_coverage(ran.coverage);
  return ran.said.empty() ? 0 : 1;
}

int run_threads(std::uint16_t workers, std::uint64_t first, std::uint64_t count) {
  const std::string said = threads_campaign(first, count, workers);
  fmt::print("{}", said.empty() ? fmt::format("all is well: {} programs on {} workers\n", count, workers) : said);
  return said.empty() ? 0 : 1;
}

int write_digests(const std::string& path, std::uint64_t first, std::uint64_t count) {
  std::ofstream file(path);
  if (!file) {
    fmt::print(stderr, "calm_programs: cannot write {}\n", path);
    return 2;
  }
  const Campaign ran = campaign(first, count, Trouble::none, [&file](std::uint64_t seed, const Digests& digests) {
    file << fmt::format("{} {:016x} {:016x} {:016x}\n", seed, digests.trace, digests.state, digests.log);
  });
  fmt::print("{}", ran.said);
  return ran.said.empty() && file.flush() ? 0 : 1;
}

/// Gives: the exit code.
int run_words(const std::vector<std::string>& words) {
  if (words.size() >= 2 && words.size() <= 3 && (words[0] == "--seed" || words[0] == "--trouble")) {
    return show(number_at(words, 1, 1), number_at(words, 2, 1),
                words[0] == "--trouble" ? Trouble::some : Trouble::none);
  }
  if (words.size() >= 3 && words.size() <= 4 && words[0] == "--threads") {
    return run_threads(static_cast<std::uint16_t>(number_at(words, 1, 1)), number_at(words, 2, 1),
                       number_at(words, 3, 1));
  }
  if (words.size() >= 2 && words.size() <= 4 && words[0] == "--digests") {
    return write_digests(words[1], number_at(words, 2, 1), number_at(words, 3, 2000));
  }
  return usage();
}

}  // namespace
}  // namespace calm::programs

int main(int argc, char** argv) { return calm::programs::run_words({argv + 1, argv + argc}); }
