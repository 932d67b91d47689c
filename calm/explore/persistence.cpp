#include "calm/explore/persistence.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <utility>

#include "calm/check/require.hpp"

namespace calm::explore {
namespace {

/// Which vertices are connected, while edges are added one by one.
class Components {
 public:
  explicit Components(std::uint32_t vertices) : parents_(vertices) {
    std::iota(parents_.begin(), parents_.end(), std::uint32_t{0});
  }
  /// Gives: false when they were connected already: the edge closes a circle.
  bool join(const Edge& edge) noexcept {
    const std::uint32_t a = root_of(edge.from);
    const std::uint32_t b = root_of(edge.to);
    parents_[std::max(a, b)] = std::min(a, b);
    return a != b;
  }

 private:
  std::uint32_t root_of(std::uint32_t vertex) noexcept {
    while (parents_[vertex] != vertex) vertex = parents_[vertex] = parents_[parents_[vertex]];
    return vertex;
  }
  std::vector<std::uint32_t> parents_;
};

/// A chain of edges, by number, ascending. Over GF(2) a sum keeps what only one of two has.
using Chain = std::vector<std::uint32_t>;

constexpr std::uint32_t nobody = UINT32_MAX;

class Reduction {
 public:
  Reduction(const Graph& graph, const HomologyCaps& caps)
      : graph_(graph),
        caps_(caps),
        first_edge_(std::size_t{graph.vertices} + 1),
        killed_by_(graph.edges.size(), nobody) {
    for (const Edge& edge : graph.edges) ++first_edge_[std::size_t{edge.to} + 1];
    std::partial_sum(first_edge_.begin(), first_edge_.end(), first_edge_.begin());
  }

  /// Fills the squares one after the other. Gives: false when a cap is met.
  bool fill() {
    for (std::uint32_t d = 0; d < graph_.vertices; ++d) {
      for (std::uint32_t bd = first_edge_[d]; bd < first_edge_[d + 1]; ++bd) {
        for (std::uint32_t cd = bd + 1; cd < first_edge_[d + 1]; ++cd) {
          if (!fill_between(bd, cd)) return false;
        }
      }
    }
    return true;
  }

  Homology holes() const {
    Homology result;
    Components components(graph_.vertices);
    for (std::uint32_t i = 0; i < graph_.edges.size(); ++i) {
      if (components.join(graph_.edges[i])) continue;
      const bool stays = killed_by_[i] == nobody;
      if (stays) ++result.betti;
      const Hole hole{graph_.edges[i].to + 1, stays ? graph_.vertices + 1 : deaths_[killed_by_[i]]};
      if (hole.persistence() != 0) result.holes.push_back(hole);
    }
    return result;
  }

 private:
  /// All squares that end in these two edges: one for each vertex that has an edge to both of their beginnings.
  bool fill_between(std::uint32_t bd, std::uint32_t cd) {
    const std::uint32_t b = graph_.edges[bd].from;
    const std::uint32_t c = graph_.edges[cd].from;
    std::uint32_t ab = first_edge_[b];
    std::uint32_t ac = first_edge_[c];
    while (ab < first_edge_[b + 1] && ac < first_edge_[c + 1]) {
      const std::uint32_t left = graph_.edges[ab].from;
      const std::uint32_t right = graph_.edges[ac].from;
      if (left == right && !add_square({ab, ac, bd, cd}, graph_.edges[bd].to + 1)) return false;
      if (left <= right) ++ab;
      if (right <= left) ++ac;
    }
    return true;
  }

  /// Reduces its boundary by those before it; the highest edge that is left is the hole that it fills.
  bool add_square(const std::array<std::uint32_t, 4>& boundary, std::uint32_t birth) {
    if (++squares_ > caps_.squares) return false;
    Chain chain(boundary.begin(), boundary.end());
    std::sort(chain.begin(), chain.end());
    while (!chain.empty() && killed_by_[chain.back()] != nobody) {
      const Chain& other = chains_[killed_by_[chain.back()]];
      sum_.clear();
      std::set_symmetric_difference(chain.begin(), chain.end(), other.begin(), other.end(), std::back_inserter(sum_));
      std::swap(chain, sum_);
    }
    if (chain.empty()) return true;
    killed_by_[chain.back()] = static_cast<std::uint32_t>(chains_.size());
    bytes_ += sizeof(Chain) + sizeof(std::uint32_t) * (chain.size() + 1);
    chains_.emplace_back(chain.begin(), chain.end());
    deaths_.push_back(birth);
    return bytes_ <= caps_.bytes;
  }

  const Graph& graph_;
  const HomologyCaps& caps_;
  std::vector<std::uint32_t> first_edge_;  // to each vertex; one more at the end
  std::vector<std::uint32_t> killed_by_;   // for each edge the reduced square that ends in it
  std::vector<Chain> chains_;              // of reduced squares
  std::vector<std::uint32_t> deaths_;      // when each of these came
  std::uint32_t squares_ = 0;
  std::size_t bytes_ = 0;
  Chain sum_;
};

}  // namespace

std::optional<Homology> first_homology(const Graph& graph, const HomologyCaps& caps) {
  if (graph.vertices > caps.vertices || graph.edges.size() > caps.edges) return std::nullopt;
  for (const Edge& edge : graph.edges) {
    CALM_REQUIRE(LAB_5, edge.from < edge.to && edge.to < graph.vertices, edge.from, edge.to);
  }
  Reduction reduction(graph, caps);
  if (!reduction.fill()) return std::nullopt;
  return reduction.holes();
}

std::uint32_t count_circles(const Graph& graph) {
  Components components(graph.vertices);
  std::uint32_t circles = 0;
  for (const Edge& edge : graph.edges) circles += components.join(edge) ? 0U : 1U;
  return circles;
}

}  // namespace calm::explore
