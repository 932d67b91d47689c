#include "calm/explore/score.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace calm::explore {
namespace {

/// Which processes have a step that conflicts with one of another, counted as pairs of those that share nothing.
void count_apart(const Execution& run, Score& score) {
  ProcessSet present;
  std::array<std::uint64_t, process_max> met{};
  for (std::uint32_t i = 0; i < run.size(); ++i) {
    present.add(run[i].process);
    for (std::uint32_t k = 0; k < i; ++k) {
      const Process a = run[i].process;
      const Process b = run[k].process;
      if (a == b || (met[a] >> b & 1U) != 0 || !run[i].touched.conflicts(run[k].touched)) continue;
      met[a] |= std::uint64_t{1} << b;
      met[b] |= std::uint64_t{1} << a;
    }
  }
  std::uint32_t meetings = 0;
  for (const std::uint64_t others : met) meetings += static_cast<std::uint32_t>(std::popcount(others));
  const std::uint32_t processes = present.size();
  if (processes < 2) return;
  score.pairs = processes * (processes - 1) / 2;
  score.apart = score.pairs - meetings / 2;
}

}  // namespace

std::strong_ordering operator<=>(const Score& a, const Score& b) noexcept {
  if (const auto order = a.close <=> b.close; order != 0) return order;
  if (const auto order = a.lasting <=> b.lasting; order != 0) return order;
  if (const auto order = a.total <=> b.total; order != 0) return order;
  if (const auto order = a.betti <=> b.betti; order != 0) return order;
  if (const auto order = a.apart * b.pairs <=> b.apart * a.pairs; order != 0) return order;
  if (const auto order = b.events <=> a.events; order != 0) return order;
  return a.fingerprint <=> b.fingerprint;
}

Graph dependencies(const Execution& run) {
  Graph graph{.vertices = run.size(), .edges = {}};
  std::array<std::uint16_t, process_max> covered{};
  for (std::uint32_t i = 0; i < run.size(); ++i) {
    covered.fill(0);
    const auto first = static_cast<std::ptrdiff_t>(graph.edges.size());
    for (std::uint32_t k = i; k-- > 0;) {
      const Event& other = run[k];
      if (!run.happens_before(k, i) || covered[other.process] >= other.number) continue;
      graph.edges.push_back({k, i});
      const std::uint16_t* const clock = run.clock(k);
      for (std::uint32_t p = 0; p < run.width(); ++p) covered[p] = std::max(covered[p], clock[p]);
    }
    std::reverse(graph.edges.begin() + first, graph.edges.end());
  }
  return graph;
}

Score score_of(const Execution& run, const HomologyCaps& caps) {
  Score score;
  score.events = run.size();
  score.fingerprint = run.fingerprint();
  const Graph graph = dependencies(run);
  if (const auto homology = first_homology(graph, caps)) {
    score.betti = homology->betti;
    for (const Hole& hole : homology->holes) {
      score.total += hole.persistence();
      if (hole.persistence() >= lasting) ++score.lasting;
    }
    return score;
  }
  score.close = false;
  score.betti = count_circles(graph);
  count_apart(run, score);
  return score;
}

}  // namespace calm::explore
