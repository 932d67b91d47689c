#include "apps/calm/zoo/zoo.hpp"

#include <algorithm>

#include "apps/calm/zoo/kinds.hpp"

namespace calm::zoo {
namespace {

constexpr std::uint64_t power(std::uint64_t base, std::uint32_t exponent) {
  std::uint64_t result = 1;
  while (exponent-- > 0) result *= base;
  return result;
}
constexpr std::uint64_t factorial(std::uint32_t n) { return n < 2 ? 1 : n * factorial(n - 1); }
/// first · (first + 1) · … · last
constexpr std::uint64_t product(std::uint32_t first, std::uint32_t last) {
  std::uint64_t result = 1;
  for (std::uint32_t i = first; i <= last; ++i) result *= i;
  return result;
}
/// (nm)! / (m!)^n, without the large numbers on the way: how many ways to mix n sequences of m.
constexpr std::uint64_t mixes(std::uint32_t n, std::uint32_t m) {
  std::uint64_t result = 1;
  for (std::uint32_t i = 1; i <= n; ++i) {
    std::uint64_t ways = 1;  // (im choose m)
    for (std::uint32_t k = 1; k <= m; ++k) ways = ways * (std::uint64_t{i} * m - m + k) / k;
    result *= ways;
  }
  return result;
}

constexpr Range none{};

constexpr Species all[] = {
    {"abba", "two locks taken in opposite order", none, none, abba, [](auto, auto) -> std::uint64_t { return 3; }},
    {"cancel",
     "one sets a flag, n look at it at most m times each",
     {1, 20, 2},
     {1, 20, 3},
     cancel,
     [](auto n, auto m) { return power(m + 1, n); }},
    {"commit_cancel", "a commit against a cancel, each by one compare-and-swap", none, none, commit_cancel,
     [](auto, auto) -> std::uint64_t { return 2; }},
    {"fetch_add", "n add to one word", {1, 12, 4}, none, fetch_add, [](auto n, auto) { return factorial(n); }},
    {"filesystem",
     "n make a file: locks, inodes and blocks",
     {1, 26, 16},
     none,
     filesystem,
     [](auto n, auto) { return n <= 13 ? 1 : power(2, n - 13); }},
    {"increment",
     "n read one word and write it back increased",
     {1, 8, 3},
     none,
     increment,
     [](auto n, auto) { return factorial(n) * factorial(n); }},
    {"indexer",
     "n put four entries each into a hash table",
     {1, 22, 12},
     none,
     indexer,
     [](auto n, auto) { return n <= 11 ? 1 : power(8, n - 11); }},
    {"join_all", "one waits for n flags", {1, 60, 4}, none, join_all, [](auto, auto) -> std::uint64_t { return 1; }},
    {"lastzero",
     "one looks for the last zero, n write a[j] = a[j-1] + 1",
     {1, 20, 5},
     none,
     lastzero,
     [](auto n, auto) { return n == 1 ? 2 : (n + std::uint64_t{3}) * power(2, n - 2); }},
    {"mailbox", "n send m messages each, one receives them all", {1, 12, 2}, {1, 12, 2}, mailbox, mixes},
    {"mailbox_coarse",
     "n send one message each into a box that is one place",
     {1, 12, 3},
     none,
     mailbox_coarse,
     [](auto n, auto) { return product(n + 2, 2 * n); }},
    {"philosophers",
     "n take the forks left and right of them",
     {2, 20, 3},
     none,
     philosophers,
     [](auto n, auto) { return power(2, n) - 1; }},
    {"pipeline",
     "n stages in a row pass m messages on",
     {1, 60, 4},
     {1, 60, 3},
     pipeline,
     [](auto, auto) -> std::uint64_t { return 1; }},
    {"popl", "four threads for which source sets need twice the executions", none, none, popl,
     [](auto, auto) -> std::uint64_t { return 5; }},
    {"race",
     "n try to win by one compare-and-swap",
     {1, 60, 4},
     none,
     race,
     [](auto n, auto) -> std::uint64_t { return n; }},
    {"readers",
     "one writes x, n read a word of their own and then x",
     {1, 20, 5},
     none,
     readers,
     [](auto n, auto) { return power(2, n); }},
    {"reversal", "a race whose reversal changes what comes after it", none, none, reversal,
     [](auto, auto) -> std::uint64_t { return 32; }},
    {"siblings", "two readers beside one writer of another word", none, none, siblings,
     [](auto, auto) -> std::uint64_t { return 4; }},
    {"sleeping_races", "five threads for which source sets need 28 executions", none, none, sleeping_races,
     [](auto, auto) -> std::uint64_t { return 10; }},
    {"stale_cas", "a compare-and-swap that fails at one place and not at another", none, none, stale_cas,
     [](auto, auto) -> std::uint64_t { return 9; }},
    {"trap", "a bug that is reached by 2 of 12 executions", none, none, trap,
     [](auto, auto) -> std::uint64_t { return 12; }},
    {"workqueue",
     "n workers take m items from one queue",
     {1, 12, 2},
     {1, 12, 3},
     workqueue,
     [](auto n, auto m) { return power(n, m); }},
};

}  // namespace

std::span<const Species> species() { return all; }

const Species* find(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [name](const Species& one) { return one.name == name; });
  return found == std::end(all) ? nullptr : found;
}

}  // namespace calm::zoo
