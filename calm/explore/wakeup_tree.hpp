// wakeup_tree.hpp — what is still to be tried at one point of a run: sequences of steps, as an ordered tree.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
//
// A branch of the tree is a sequence that leads away from everything tried there before. Nodes come from a pool and are
// used again.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"

namespace calm::explore {

/// A step that is known before it runs.
struct Foreseen {
  Process process = 0;
  Footprint touched;
  Way way = 0;
  Way ways = 0;  ///< how many it has; 0 when that is not known
};

/// Gives: true when `process`, whose next step would touch this and go this way, can come first in an order of `sequence`
///        that only swaps steps that commute: its first step there goes the same way and conflicts with nothing before it;
///        or it is not there, and its next step conflicts with nothing in it.
template <class Steps>
[[nodiscard]] bool is_weak_initial(Process process, Way way, const Footprint& next, const Steps& sequence) noexcept {
  std::size_t first = 0;
  while (first < sequence.size() && sequence[first].process != process) ++first;
  if (first < sequence.size() && sequence[first].way != way) return false;
  const Footprint& touched = first == sequence.size() ? next : sequence[first].touched;
  for (std::size_t i = 0; i < first; ++i) {
    if (sequence[i].touched.conflicts(touched)) return false;
  }
  return true;
}

/// There may be very many of them, so a node has a single touch, or the number of a footprint with several.
struct WakeupNode {
  WakeupNode* first_child = nullptr;
  WakeupNode* next_sibling = nullptr;
  std::uint32_t touch_or_print = 0;
  Process process = 0;
  bool is_print : 1 = false;
  bool has_one_way : 1 = false;
  Way way = 0;
};

class WakeupPool {
 public:
  [[nodiscard]] WakeupNode* make(const Foreseen& step);
  /// Gives back the node and all below it.
  void give_back(WakeupNode* node) noexcept;
  /// Gives: what the step of the node will touch.
  [[nodiscard]] Footprint touched(const WakeupNode& node) const {
    if (node.is_print) return prints_[node.touch_or_print];
    Footprint touched;
    touched.add(Touch::from_bits(node.touch_or_print));
    return touched;
  }
  [[nodiscard]] Foreseen step(const WakeupNode& node) const {
    return {node.process, touched(node), node.way, node.has_one_way ? Way{1} : Way{0}};
  }

 private:
  [[nodiscard]] std::uint32_t print_of(const Footprint& touched);

  std::deque<WakeupNode> nodes_;
  WakeupNode* free_ = nullptr;
  std::deque<Footprint> prints_;                                   // with no or several touches, each once
  std::unordered_multimap<std::uint64_t, std::uint32_t> numbers_;  // of footprints, by a hash
};

/// Puts a sequence under `root` (the list of first steps), unless what is there already leads to all it would. `sleepers`
/// are the processes whose next steps have been tried at this point; what is stored is the part of the sequence that is
/// needed to wake them and every branch that was passed.
enum class Insertion : std::uint8_t {
  added,
  covered,           ///< something there leads to it, whichever way its last step goes
  covered_this_way,  ///< the same, for the way in which its last step goes here
};
Insertion insert(WakeupPool& pool, WakeupNode*& root, std::vector<Foreseen>& sequence, std::vector<Foreseen>& sleepers);

struct SavedNode;

/// Gives: the nodes of a tree, parents before children and siblings in order.
[[nodiscard]] std::vector<SavedNode> list(const WakeupPool& pool, const WakeupNode* root);
/// Gives: the tree with these nodes. Needs: a list that list() could give.
[[nodiscard]] WakeupNode* plant(WakeupPool& pool, const std::vector<SavedNode>& nodes);

}  // namespace calm::explore
