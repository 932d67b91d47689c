// build.hpp — plans as expressions: `build(timeout(50ms, race(leaf("near").takes(5ms), leaf("far").takes(20ms))))`.
// Laws:    COM-4
// Threads: values
// Cancel:  not applicable
//
// Whatever is wrong with an expression comes out of build(), in words.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"
#include "calm/plan/plan.hpp"

namespace calm::plan {

/// A leaf while it says what is known of it. What it does not say counts as the worst.
class LeafDraft {
 public:
  explicit LeafDraft(std::string name) { leaf_.name = std::move(name); }

  LeafDraft&& takes(Duration cost) && { return leaf_.cost = cost, std::move(*this); }
  LeafDraft&& reads(std::string resource) && {
    leaf_.effects_known = true;
    return leaf_.reads.push_back(std::move(resource)), std::move(*this);
  }
  /// A mark in the trace is a write, as everything is that others can see.
  LeafDraft&& writes(std::string resource) && {
    leaf_.effects_known = true;
    return leaf_.writes.push_back(std::move(resource)), std::move(*this);
  }
  LeafDraft&& touches_nothing() && { return leaf_.effects_known = true, std::move(*this); }
  /// Its answers and failures are not told apart from those of other leaves of the group.
  LeafDraft&& like(std::string group) && { return leaf_.group = std::move(group), std::move(*this); }
  /// A cancel ends it at its next wait, and it waits for nothing then.
  LeafDraft&& ends_at_once() && { return leaf_.ends_at_once = true, std::move(*this); }
  LeafDraft&& holds_no_promise() && { return leaf_.holds_promises = false, std::move(*this); }
  /// Running it once or twice is the same.
  LeafDraft&& repeatable() && { return leaf_.repeatable = true, std::move(*this); }
  LeafDraft&& never_fails() && { return leaf_.can_fail = false, std::move(*this); }

  [[nodiscard]] const Leaf& said() const noexcept { return leaf_; }

 private:
  Leaf leaf_;
};

/// A part of a plan to be.
struct Draft {
  Draft(const LeafDraft& leaf)  // NOLINT(google-explicit-constructor): a leaf is a part
      : node(Node::leaf(leaf.said().name)), leaves{leaf.said()} {}
  Draft(Node node, std::vector<Leaf> leaves) : node(std::move(node)), leaves(std::move(leaves)) {}

  Node node;
  std::vector<Leaf> leaves;
};

inline LeafDraft leaf(std::string name) { return LeafDraft(std::move(name)); }

/// All of them, side by side. For as many as are known when it runs.
Draft join(std::vector<Draft> parts);
/// The first of them to end; the others are cancelled and waited for.
Draft race(std::vector<Draft> parts);
/// Done within the limit, or the error `timeout`.
Draft timeout(Duration limit, Draft part);

template <std::convertible_to<Draft>... Parts>
Draft join(Parts&&... parts) {
  std::vector<Draft> all;
  (all.emplace_back(std::forward<Parts>(parts)), ...);
  return join(std::move(all));
}
template <std::convertible_to<Draft>... Parts>
Draft race(Parts&&... parts) {
  std::vector<Draft> all;
  (all.emplace_back(std::forward<Parts>(parts)), ...);
  return race(std::move(all));
}

/// Fails: invalid_argument, as Plan::make does.
inline Outcome<Plan> build(Draft draft) { return Plan::make(std::move(draft.node), std::move(draft.leaves)); }

}  // namespace calm::plan
