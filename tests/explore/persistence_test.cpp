// Holes of complexes: by hand, and against ranks of dense matrices.
#include "calm/explore/persistence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "calm/model/split_mix.hpp"

namespace calm::explore {
namespace {

using Holes = std::vector<Hole>;

TEST(Persistence, LAB_5_a_path_has_no_holes) {
  const auto homology = first_homology({.vertices = 4, .edges = {{0, 1}, {1, 2}, {2, 3}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(*homology, Homology{});
}

TEST(Persistence, LAB_5_a_square_that_is_filled_when_it_closes_was_never_a_hole) {
  const auto homology = first_homology({.vertices = 4, .edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(*homology, Homology{});
}

TEST(Persistence, LAB_5_a_square_with_two_beginnings_is_hollow_for_ever) {
  // Two events, and two that happen after both: no two ways from one beginning to one end.
  const auto homology = first_homology({.vertices = 4, .edges = {{0, 2}, {1, 2}, {0, 3}, {1, 3}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(homology->holes, (Holes{{.birth = 4, .death = 5}}));
  EXPECT_EQ(homology->betti, 1U);
}

TEST(Persistence, LAB_5_a_way_around_is_a_hole_that_lives_to_one_beyond_the_end) {
  // 0→1→2→4 and 0→3→4: the ways have different lengths, no square fills them. Then two more events.
  const auto homology =
      first_homology({.vertices = 7, .edges = {{0, 1}, {1, 2}, {0, 3}, {2, 4}, {3, 4}, {4, 5}, {5, 6}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(homology->holes, (Holes{{.birth = 5, .death = 8}}));
  EXPECT_EQ(homology->holes[0].persistence(), 3U);
}

TEST(Persistence, LAB_5_two_holes_beside_each_other) {
  const auto homology =
      first_homology({.vertices = 8, .edges = {{0, 2}, {1, 2}, {0, 3}, {1, 3}, {4, 6}, {5, 6}, {4, 7}, {5, 7}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(homology->holes, (Holes{{.birth = 4, .death = 9}, {.birth = 8, .death = 9}}));
  EXPECT_EQ(homology->betti, 2U);
}

TEST(Persistence, LAB_5_a_hole_dies_when_the_squares_over_it_meet) {
  // The circle 0-2-1-3 is born with 3. The squares 0,2,3,4 and 1,2,3,4 share the way 2-4-3: their sum is that circle.
  const auto homology = first_homology({.vertices = 5, .edges = {{0, 2}, {1, 2}, {0, 3}, {1, 3}, {2, 4}, {3, 4}}});
  ASSERT_TRUE(homology.has_value());
  EXPECT_EQ(homology->holes, (Holes{{.birth = 4, .death = 5}}));
  EXPECT_EQ(homology->betti, 0U);
}

TEST(Persistence, LAB_5_beyond_a_cap_there_is_no_answer) {
  const Graph graph{.vertices = 4, .edges = {{0, 1}, {0, 2}, {1, 3}, {2, 3}}};
  EXPECT_TRUE(first_homology(graph, {.vertices = 4, .edges = 4, .squares = 1, .bytes = 64}).has_value());
  EXPECT_FALSE(first_homology(graph, {.vertices = 3}).has_value());
  EXPECT_FALSE(first_homology(graph, {.edges = 3}).has_value());
  EXPECT_FALSE(first_homology(graph, {.squares = 0}).has_value());
  EXPECT_FALSE(first_homology(graph, {.bytes = 8}).has_value());
  EXPECT_EQ(count_circles(graph), 1U);  // squares are not looked at
}

// --- against dense matrices ---

using Column = std::uint64_t;  // a bit for each row

std::uint32_t rank_of(std::vector<Column> columns) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == 0) continue;
    ++rank;
    const Column lowest = columns[i] & (~columns[i] + 1);
    for (std::size_t k = i + 1; k < columns.size(); ++k) {
      if ((columns[k] & lowest) != 0) columns[k] ^= columns[i];
    }
  }
  return rank;
}

/// The chains of edges without a boundary, found by trying: those that a combination of columns sums up to nothing.
std::vector<Column> cycles(const std::vector<Edge>& edges) {
  std::vector<std::pair<Column, Column>> columns;  // boundary, and which edges it is the sum of
  std::vector<Column> found;
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Column boundary = Column{1} << edges[i].from | Column{1} << edges[i].to;
    Column chain = Column{1} << i;
    for (const auto& [other, others] : columns) {
      if ((boundary & other & (~other + 1)) == 0) continue;
      boundary ^= other;
      chain ^= others;
    }
    if (boundary == 0) {
      found.push_back(chain);
    } else {
      columns.emplace_back(boundary, chain);
    }
  }
  return found;
}

std::optional<std::size_t> index_of(const std::vector<Edge>& edges, std::uint32_t from, std::uint32_t to) {
  const auto found = std::find(edges.begin(), edges.end(), Edge{from, to});
  if (found == edges.end()) return std::nullopt;
  return static_cast<std::size_t>(found - edges.begin());
}

std::vector<Column> squares(const std::vector<Edge>& edges, std::uint32_t vertices) {
  std::vector<Column> found;
  for (std::uint32_t d = 0; d < vertices; ++d) {
    for (std::uint32_t c = 0; c < d; ++c) {
      for (std::uint32_t b = 0; b < c; ++b) {
        for (std::uint32_t a = 0; a < b; ++a) {
          const auto ab = index_of(edges, a, b);
          const auto ac = index_of(edges, a, c);
          const auto bd = index_of(edges, b, d);
          const auto cd = index_of(edges, c, d);
          if (!ab || !ac || !bd || !cd) continue;
          found.push_back(Column{1} << *ab | Column{1} << *ac | Column{1} << *bd | Column{1} << *cd);
        }
      }
    }
  }
  return found;
}

Graph random_graph(std::uint64_t seed) {
  SplitMix numbers(seed);
  Graph graph{.vertices = static_cast<std::uint32_t>(3 + numbers.below(8)), .edges = {}};
  const std::uint64_t density = 1 + numbers.below(4);
  for (std::uint32_t to = 1; to < graph.vertices; ++to) {
    for (std::uint32_t from = 0; from < to; ++from) {
      if (numbers.below(5) < density) graph.edges.push_back({from, to});
    }
  }
  return graph;
}

std::vector<Edge> edges_up_to(const Graph& graph, std::uint32_t prefix) {
  std::vector<Edge> edges;
  std::copy_if(graph.edges.begin(), graph.edges.end(), std::back_inserter(edges),
               [prefix](const Edge& edge) { return edge.to < prefix; });
  return edges;
}

TEST(Persistence, LAB_5_the_holes_that_live_from_one_prefix_to_another_are_as_many_as_ranks_of_dense_matrices_say) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Graph graph = random_graph(seed);
    ASSERT_LE(graph.edges.size(), 64U);
    const auto homology = first_homology(graph);
    ASSERT_TRUE(homology.has_value());
    for (std::uint32_t early = 1; early <= graph.vertices; ++early) {
      for (std::uint32_t late = early; late <= graph.vertices; ++late) {
        // Cycles of the early prefix that no squares of the late one fill: edges of a prefix have the same numbers in both.
        std::vector<Column> filled = squares(edges_up_to(graph, late), late);
        const std::uint32_t rank = rank_of(filled);
        const std::vector<Column> early_cycles = cycles(edges_up_to(graph, early));
        filled.insert(filled.end(), early_cycles.begin(), early_cycles.end());
        const auto alive = std::count_if(homology->holes.begin(), homology->holes.end(),
                                         [&](const Hole& hole) { return hole.birth <= early && hole.death > late; });
        EXPECT_EQ(static_cast<std::uint32_t>(alive), rank_of(filled) - rank)
            << "seed " << seed << ", from " << early << " to " << late;
      }
    }
    const auto at_end = std::count_if(homology->holes.begin(), homology->holes.end(),
                                      [&](const Hole& hole) { return hole.death == graph.vertices + 1; });
    EXPECT_EQ(homology->betti, static_cast<std::uint32_t>(at_end));
    EXPECT_EQ(count_circles(graph), cycles(graph.edges).size());
  }
}

}  // namespace
}  // namespace calm::explore
