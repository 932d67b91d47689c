// persistence.hpp — the holes of a growing complex of dependencies: when each appears, and when it is filled.
// Laws:    LAB-5 (the persistence score)
// Threads: pure functions
// Cancel:  not applicable
//
// Vertices are numbered in the order in which they come; edges lead from lower to higher ones. A square fills the hole
// between two ways from a to d: a→b, a→c, b→d, c→d with b < c. With the k-th vertex come the edges and squares whose highest
// vertex it is: a cell is born at the length of the shortest prefix that has all of it. First homology over GF(2), by column
// reduction in the order of birth, so that the result does not depend on anything else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace calm::explore {

struct Edge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;  ///< higher than `from`

  friend bool operator==(const Edge&, const Edge&) noexcept = default;
};

/// Needs: edges by ascending `to`, and by ascending `from` where that is equal; none twice.
struct Graph {
  std::uint32_t vertices = 0;
  std::vector<Edge> edges;
};

/// A hole.
struct Hole {
  std::uint32_t birth = 0;  ///< the prefix that has it first
  std::uint32_t death = 0;  ///< the first one that has it no more; the number of vertices + 1 when there is none

  [[nodiscard]] std::uint32_t persistence() const noexcept { return death - birth; }
  friend bool operator==(const Hole&, const Hole&) noexcept = default;
};

struct Homology {
  std::vector<Hole> holes;  ///< those that live for a while, in the order of their birth
  std::uint32_t betti = 0;  ///< how many are there at the end

  friend bool operator==(const Homology&, const Homology&) noexcept = default;
};

/// What a computation may cost.
struct HomologyCaps {
  std::uint32_t vertices = 512;
  std::uint32_t edges = 20'000;
  std::uint32_t squares = 200'000;
  std::size_t bytes = 64U << 20U;
};

/// Gives: the holes; nothing when that costs more than the caps. Fails: std::bad_alloc.
[[nodiscard]] std::optional<Homology> first_homology(const Graph& graph, const HomologyCaps& caps = {});

/// Gives: how many independent circles there are when no square is filled. Fails: std::bad_alloc.
[[nodiscard]] std::uint32_t count_circles(const Graph& graph);

}  // namespace calm::explore
