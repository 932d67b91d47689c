#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "apps/calm/explorable.hpp"
#include "apps/calm/gallery/gallery.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/prioritised.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"

namespace calm::tool {
namespace {

using explore::Report;
using explore::Threads;
using gallery::Exhibit;

constexpr std::uint64_t most = 1'000;  // executions until a strategy gives up
constexpr explore::Options until_first{.max_executions = most, .stop_at_first_problem = true};

/// Gives: true when the bug is found, and gone when it is mended.
bool show_planted(const Exhibit& exhibit) {
  Threads broken(exhibit.make(false, 0));
  const Report found = explore::explore_optimal(broken);
  const auto shortest = explore::fewest_preemptions(broken, {}, 4);
  Threads fixed(exhibit.make(true, 0));
  const Report mended = explore::explore_optimal(fixed);
  fmt::print("{:<18}{:>10}{:>10}{:>13}{:>14}{:>10}\n", exhibit.name, found.executions, found.buggy,
             shortest ? std::to_string(shortest->preemptions) : "?", mended.executions, mended.buggy);
  return found.exhausted && !found.ok() && mended.exhausted && mended.ok();
}

std::uint64_t executions_to_bug(const Report& report) { return report.ok() ? most + 1 : report.first_problem(); }

/// Gives: how many executions the one in the middle of 21 seeds takes.
template <class Explore>
std::uint64_t median(const Explore& explore) {
  std::array<std::uint64_t, 21> counts{};
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = executions_to_bug(explore(i + 1));
  std::nth_element(counts.begin(), counts.begin() + counts.size() / 2, counts.end());
  return counts[counts.size() / 2];
}

std::string count_text(std::uint64_t count) { return count > most ? fmt::format("> {}", most) : std::to_string(count); }

/// Gives: true when the score needs fewer executions than chance.
bool show_lock_order(const Exhibit& exhibit, std::uint32_t n) {
  Threads program(exhibit.make(false, n));
  const std::uint64_t optimal = executions_to_bug(explore::explore_optimal(program, until_first));
  const std::uint64_t by_score = executions_to_bug(explore::explore_prioritised(program, until_first));
  const std::uint64_t random =
      median([&program](std::uint64_t seed) { return explore::explore_random(program, until_first, seed); });
  const std::uint64_t pct =
      median([&program](std::uint64_t seed) { return explore::explore_pct(program, until_first, seed, 3); });
  fmt::print("{:<18}{:>3}{:>10}{:>14}{:>10}{:>10}\n", exhibit.name, n, count_text(optimal), count_text(by_score),
             count_text(random), count_text(pct));
  return by_score < random;
}

}  // namespace

int show_gallery() {
  bool as_expected = true;
  fmt::print("Every execution of each program, none twice\n\n");
  fmt::print("{:<18}{:>10}{:>10}{:>13}{:>14}{:>10}\n", "", "executions", "with bug", "preemptions", "mended: all",
             "with bug");
  for (const Exhibit& exhibit : gallery::exhibits()) {
    if (exhibit.kind == Exhibit::Kind::planted) as_expected = show_planted(exhibit) && as_expected;
  }
  fmt::print(
      "\nLocks in a wrong order: executions until the bug is found (random and pct: the median of 21 seeds)\n\n");
  fmt::print("{:<18}{:>3}{:>10}{:>14}{:>10}{:>10}\n", "", "n", "optimal", "persistence", "random", "pct");
  for (const Exhibit& exhibit : gallery::exhibits()) {
    if (exhibit.kind != Exhibit::Kind::lock_order) continue;
    for (const std::uint32_t n : {exhibit.n.standard, exhibit.n.last}) {
      as_expected = show_lock_order(exhibit, n) && as_expected;
    }
  }
  return as_expected ? 0 : 1;
}

}  // namespace calm::tool
