// take_all_stack.hpp — intrusive stack that many push to and one exchange empties.
// Laws:    none of its own; remote frees and cross-worker wakes stand on it
// Threads: everything anywhere; a node belongs to its pusher until push(), to the taker after take_all()
// Cancel:  not applicable
//
// Nodes leave only all together, and push() never looks into the node it puts its own on. So there is no ABA: when the
// head is the same pointer again, it is the head again, whatever happened meanwhile.
//
// head_: newest node, nullptr when empty.
//   [S1] push() releases the node's content and link -> take_all() acquires. A chain has many pushers and the taker reads
//        the last one's write only; every write to head_ is a read-modify-write, so each pusher's release sequence
//        reaches the taker.
//   [S2] take_all() releases -> push() acquires: the first pusher after a take, who is told so, sees what the taker did
//        before it (it declared itself awake, say).
#pragma once

#include "calm/lockfree/atomics.hpp"

namespace calm::lockfree {

/// Node offers a plain member `Node* Node::*link`, which is the stack's between push() and take_all().
template <class Node, Node* Node::* link, AtomicsPolicy Atomics = RealAtomics>
class TakeAllStack {
 public:
  constexpr TakeAllStack() noexcept = default;
  TakeAllStack(const TakeAllStack&) = delete;
  TakeAllStack& operator=(const TakeAllStack&) = delete;

  /// Needs: a node in no stack, alive until it is taken.
  /// Gives: true when the stack was empty. Between two takes exactly one push hears it: the one that wakes the taker.
  bool push(Node& node) noexcept {
    // relaxed: a stale head costs one more round, and the pointer is not followed.
    Node* below = head_.load(std::memory_order_relaxed);
    do {
      node.*link = below;
    } while (!head_.compare_exchange_weak(below, &node, std::memory_order_acq_rel,  // [S1] [S2]
                                          std::memory_order_relaxed));  // as the load above
    return below == nullptr;
  }

  /// Gives: every node pushed before, newest first along `link`, nullptr when there is none. Each node goes to one taker.
  [[nodiscard]] Node* take_all() noexcept { return head_.exchange(nullptr, std::memory_order_acq_rel); }  // [S1] [S2]

  /// Gives: a hint that spares the taker an exchange. A push that has not returned yet may not show.
  [[nodiscard]] bool empty() const noexcept {
    // relaxed: a stale `true` leaves nodes for the next look, a stale `false` costs a take_all() of nothing.
    return head_.load(std::memory_order_relaxed) == nullptr;
  }

  /// Needs: a chain from take_all(), which is the caller's alone.
  /// Gives: the same nodes oldest first; those of one pusher are then in the order in which it pushed them.
  [[nodiscard]] static Node* oldest_first(Node* newest) noexcept {
    Node* turned = nullptr;
    while (newest != nullptr) {
      Node* const older = newest->*link;
      newest->*link = turned;
      turned = newest;
      newest = older;
    }
    return turned;
  }

 private:
  typename Atomics::template Atomic<Node*> head_{nullptr};
};

}  // namespace calm::lockfree
