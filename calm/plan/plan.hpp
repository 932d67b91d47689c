// plan.hpp — a piece of concurrent work as data: what runs side by side, what competes, what must be done in time.
// Laws:    COM-4
// Threads: values
// Cancel:  what a cancel does to a leaf is one of the things that the leaf says of itself
//
// A plan is a tree of Join, Race and Timeout over leaves, and for each leaf what is known of it. What a leaf does not say
// counts as the worst: it may touch everything, fail, hold promises and take time to clean up. build.hpp makes plans,
// parse.hpp reads them, run.hpp runs them, rewrite.hpp changes them, cost.hpp measures them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"

namespace calm::plan {

inline constexpr std::uint32_t max_depth = 64;   ///< of the tree; a leaf is 1 deep
inline constexpr std::size_t max_nodes = 1'000;  ///< of one plan
inline constexpr std::size_t max_name = 100;     ///< characters

enum class Op : std::uint8_t { leaf, join, race, timeout };

/// What is known of a piece of work, by its name.
struct Leaf {
  std::string name{};
  Duration cost = Duration::max();  ///< how long it takes, an estimate; Duration::max() when nobody knows
  bool effects_known = false;       ///< it touches what `reads` and `writes` say, and nothing else; a mark is a write
  std::vector<std::string> reads{};
  std::vector<std::string> writes{};
  /// Leaves of one group are alike: who uses the plan does not tell their answers or their failures apart. Empty: like none.
  std::string group{};
  bool ends_at_once = false;   ///< a cancel ends it at its next wait, and it waits for nothing then
  bool holds_promises = true;  ///< it may hold an obligation at some wait
  bool repeatable = false;     ///< running it once or twice is the same, and so is how it ends
  bool can_fail = true;        ///< otherwise than by a cancel

  friend bool operator==(const Leaf&, const Leaf&) = default;
};

/// A tree: an immutable value. One that would be deeper than max_depth has no parts and says so, up to its root; Plan::make
/// refuses it.
class Node {
 public:
  static Node leaf(std::string name);
  static Node join(std::vector<Node> parts);
  static Node race(std::vector<Node> parts);
  static Node timeout(Duration limit, Node part);

  [[nodiscard]] Op op() const noexcept { return op_; }
  [[nodiscard]] bool is(Op op) const noexcept { return op_ == op; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }          ///< of a leaf
  [[nodiscard]] Duration limit() const noexcept { return limit_; }                  ///< of a timeout
  [[nodiscard]] const std::vector<Node>& parts() const noexcept { return parts_; }  ///< of all others
  [[nodiscard]] bool is_too_deep() const noexcept { return depth_ > max_depth; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }  ///< nodes, this one with them

  friend bool operator==(const Node&, const Node&) = default;

 private:
  Node(Op op, std::vector<Node> parts);

  Op op_;
  std::string name_;
  Duration limit_;
  std::vector<Node> parts_;
  std::uint32_t depth_ = 1;
  std::size_t size_ = 1;
};

/// The way from the root to a node: which part, then which part of that, and so on. Empty for the root.
using Path = std::vector<std::uint32_t>;

/// Gives: `/` for the root, `/0/2` for the third part of the first one.
std::string to_string(const Path& path);

/// A tree of good form, and what is known of every leaf in it.
class Plan {
 public:
  /// Needs: nothing. Leaves may be given several times, if they say the same.
  /// Fails: invalid_argument, with what is wrong and where: a join or race without parts, a timeout that is not above 0 or
  ///        is for ever, too deep, too many nodes, a name that is none, a leaf that nothing is known of, that is not
  ///        in the tree, or that says two things, an estimate below 0.
  static Outcome<Plan> make(Node root, std::vector<Leaf> leaves);

  [[nodiscard]] const Node& root() const noexcept { return root_; }
  /// Gives: every leaf once, by name.
  [[nodiscard]] std::span<const Leaf> leaves() const noexcept { return leaves_; }
  /// Gives: the leaf of this name, or nullptr.
  [[nodiscard]] const Leaf* find(std::string_view name) const noexcept;
  /// Gives: the node there, or nullptr.
  [[nodiscard]] const Node* at(const Path& place) const noexcept;

  /// Gives: the plan with another node at that place; leaves that are gone are forgotten.
  /// Fails: invalid_argument, as make() does, and for a place that is not there.
  [[nodiscard]] Outcome<Plan> with(const Path& place, Node node) const;

  friend bool operator==(const Plan&, const Plan&) = default;

 private:
  Plan(Node root, std::vector<Leaf> leaves) noexcept;

  Node root_;
  std::vector<Leaf> leaves_;  // sorted by name
};

/// Gives: the names of the leaves under a node, from left to right, as often as they stand there.
std::vector<std::string_view> leaf_names(const Node& node);

/// Gives: true for what may be the name of a leaf, a resource or a group: letters, digits, `_`, `-`, `.`, not too long, and
///        none of the words that trees are written with.
bool is_name(std::string_view text) noexcept;

}  // namespace calm::plan
