#include "calm/explore/wakeup_tree.hpp"

#include <algorithm>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/explore/saved.hpp"

namespace calm::explore {
namespace {

void remove_first(std::vector<Foreseen>& sequence, Process process) {
  const auto at = std::find_if(sequence.begin(), sequence.end(),
                               [process](const Foreseen& step) { return step.process == process; });
  if (at != sequence.end()) sequence.erase(at);
}

bool follows(const Foreseen& later, const Foreseen& earlier) noexcept {
  return later.process == earlier.process || later.touched.conflicts(earlier.touched);
}

/// Marks a step and everything in the sequence that happens before it.
void keep(const std::vector<Foreseen>& sequence, std::vector<bool>& kept, std::size_t index) {
  if (kept[index]) return;
  kept[index] = true;
  for (std::size_t wanted = index; wanted-- > 0;) {
    if (kept[wanted]) continue;
    for (std::size_t later = wanted + 1; later <= index; ++later) {
      if (kept[later] && follows(sequence[later], sequence[wanted])) {
        kept[wanted] = true;
        break;
      }
    }
  }
}

/// Gives: the place of the first step that keeps this sleeper from coming first. Needs: there is one.
std::size_t waker_of(const std::vector<Foreseen>& sequence, const Foreseen& sleeper) noexcept {
  std::size_t own = 0;
  while (own < sequence.size() && sequence[own].process != sleeper.process) ++own;
  // Going another way, its own step wakes it too.
  const Footprint& touched = own == sequence.size() ? sleeper.touched : sequence[own].touched;
  std::size_t at = 0;
  while (at < own && !sequence[at].touched.conflicts(touched)) ++at;
  return at;
}

/// Leaves the causally closed part of the sequence that wakes every sleeper.
void trim(std::vector<Foreseen>& sequence, const std::vector<Foreseen>& sleepers) {
  std::vector<bool> kept(sequence.size(), false);
  for (const Foreseen& sleeper : sleepers) {
    const std::size_t waker = waker_of(sequence, sleeper);
    CALM_INVARIANT(LAB_5, waker < sequence.size(), sleeper.process);
    keep(sequence, kept, waker);
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (!kept[i]) continue;
    if (next != i) sequence[next] = std::move(sequence[i]);
    ++next;
  }
  sequence.resize(next);
}

void append(WakeupPool& pool, WakeupNode*& list, const std::vector<Foreseen>& sequence) {
  WakeupNode** place = &list;
  while (*place != nullptr) place = &(*place)->next_sibling;
  for (const Foreseen& step : sequence) {
    *place = pool.make(step);
    place = &(*place)->first_child;
  }
}

}  // namespace

std::uint32_t WakeupPool::print_of(const Footprint& touched) {
  std::uint64_t hash = 0;  // the same whatever order the touches stand in
  for (std::uint32_t i = 0; i < touched.size(); ++i) hash += (touched[i].bits() + 1) * 0x9E3779B97F4A7C15;
  const auto [first, last] = numbers_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (prints_[known->second] == touched) return known->second;
  }
  const auto number = static_cast<std::uint32_t>(prints_.size());
  prints_.push_back(touched);
  numbers_.emplace(hash, number);
  return number;
}

WakeupNode* WakeupPool::make(const Foreseen& step) {
  const bool is_print = step.touched.size() != 1;
  const std::uint32_t touch_or_print = is_print ? print_of(step.touched) : step.touched[0].bits();
  WakeupNode* node = free_;
  if (node != nullptr) {
    free_ = node->next_sibling;
  } else {
    node = &nodes_.emplace_back();
  }
  *node = {.touch_or_print = touch_or_print,
           .process = step.process,
           .is_print = is_print,
           .has_one_way = step.ways == 1,
           .way = step.way};
  return node;
}

void WakeupPool::give_back(WakeupNode* node) noexcept {
  // A tree is as deep as a run is long: its nodes are taken off level by level, without recursion.
  WakeupNode* waiting = node;
  node->next_sibling = nullptr;
  while (waiting != nullptr) {
    WakeupNode* const one = std::exchange(waiting, waiting->next_sibling);
    for (WakeupNode* child = one->first_child; child != nullptr;) {
      WakeupNode* const following = child->next_sibling;
      child->next_sibling = waiting;
      waiting = child;
      child = following;
    }
    one->next_sibling = free_;
    free_ = one;
  }
}

std::vector<SavedNode> list(const WakeupPool& pool, const WakeupNode* root) {
  std::vector<SavedNode> nodes;
  std::vector<const WakeupNode*> above;  // a tree is as deep as a run is long
  for (const WakeupNode* node = root; node != nullptr || !above.empty();) {
    if (node == nullptr) {
      node = above.back()->next_sibling;
      above.pop_back();
      continue;
    }
    nodes.push_back({static_cast<std::uint32_t>(above.size()), pool.step(*node)});
    above.push_back(node);
    node = node->first_child;
  }
  return nodes;
}

WakeupNode* plant(WakeupPool& pool, const std::vector<SavedNode>& nodes) {
  WakeupNode* root = nullptr;
  std::vector<WakeupNode**> places{&root};  // by depth: where the next node goes
  for (const SavedNode& saved : nodes) {
    CALM_REQUIRE(LAB_5, saved.depth < places.size(), saved.depth);
    places.resize(std::size_t{saved.depth} + 1);
    WakeupNode* const node = pool.make(saved.step);
    *places.back() = node;
    places.back() = &node->next_sibling;
    places.push_back(&node->first_child);
  }
  return root;
}

Insertion insert(WakeupPool& pool, WakeupNode*& root, std::vector<Foreseen>& sequence,
                 std::vector<Foreseen>& sleepers) {
  // Who makes the last step, and none before it, may go another way there than here.
  const Process last = sequence.back().process;
  const auto has_other_ways = [&sequence, last](Process process, bool has_one_way) {
    return process == last && !has_one_way && !sequence.empty() && sequence.back().process == last &&
           std::none_of(sequence.begin(), sequence.end() - 1, [last](const Foreseen& s) { return s.process == last; });
  };
  Insertion covered = Insertion::added;
  for (const Foreseen& sleeper : sleepers) {
    if (!is_weak_initial(sleeper.process, sleeper.way, sleeper.touched, sequence)) continue;
    if (!has_other_ways(sleeper.process, sleeper.ways == 1)) return Insertion::covered;
    covered = Insertion::covered_this_way;
  }
  if (covered != Insertion::added) return covered;
  covered = Insertion::covered;
  WakeupNode** list = &root;
  while (true) {
    WakeupNode* chosen = nullptr;
    for (WakeupNode* child = *list; child != nullptr; child = child->next_sibling) {
      if (is_weak_initial(child->process, child->way, pool.touched(*child), sequence)) {
        chosen = child;
        break;
      }
      sleepers.push_back(pool.step(*child));  // it will have been tried when the sequence is
    }
    if (chosen == nullptr) break;
    if (has_other_ways(chosen->process, chosen->has_one_way)) covered = Insertion::covered_this_way;
    if (chosen->first_child == nullptr) return covered;  // a leaf: everything from there on is going to be explored
    remove_first(sequence, chosen->process);
    const Foreseen step = pool.step(*chosen);
    std::erase_if(sleepers, [&step](const Foreseen& sleeper) { return follows(sleeper, step); });
    list = &chosen->first_child;
  }
  trim(sequence, sleepers);
  CALM_INVARIANT(LAB_5, !sequence.empty());
  append(pool, *list, sequence);
  return Insertion::added;
}

}  // namespace calm::explore
