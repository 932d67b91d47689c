#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <vector>

#include "calm/model/fold.hpp"
#include "tests/law/generators.hpp"

namespace calm {
namespace {

using lawtest::region_id;
using lawtest::task_id;

const RegionId own = region_id(1);
const RegionId elsewhere = region_id(2);
const ChildOrigin child{.region = own, .task = task_id(7)};

ChildEnd fold(const std::vector<ChildEnd>& ends) {
  ChildEnd result = ok();
  for (const ChildEnd& end : ends) result = fold_child(std::move(result), end, own);
  return result;
}

Reason reason(CancelKind kind, RegionId region = own, TaskId task = {}) {
  return Reason({.kind = kind, .region = region, .task = task});
}

ChildEnd stopped(CancelKind kind, RegionId region = own) { return cancelled(reason(kind, region)); }

ChildEnd stopped_below(CancelKind kind, RegionId region) {
  return cancelled(Reason(parent_cancelled(reason(kind, region), region, Time())));
}

TEST(Fold, OUT_4_an_empty_region_is_ok) { EXPECT_TRUE(fold({}).is_ok()); }

TEST(Fold, OUT_4_the_fold_goes_in_creation_order_from_ok) {
  EXPECT_EQ(fold({ok(), err(Errc::full), err(Errc::empty)}), ChildEnd(err(Errc::full)));
  EXPECT_EQ(fold({err(Errc::empty), ok(), err(Errc::full)}), ChildEnd(err(Errc::empty)));
  EXPECT_TRUE(fold({err(Errc::full), stopped(CancelKind::user)}).is_cancelled());
}

TEST(Fold, OUT_4_children_stopped_by_their_own_region_do_not_hide_the_error) {
  for (const CancelKind kind : {CancelKind::fail_fast, CancelKind::race_lost}) {
    EXPECT_EQ(fold({stopped(kind), err(Errc::full), stopped_below(kind, own)}), ChildEnd(err(Errc::full)));
    EXPECT_TRUE(fold({ok(), stopped(kind)}).is_ok());
  }
}

TEST(Fold, OUT_4_a_child_stopped_through_several_regions_is_left_out_too) {
  const Reason first = reason(CancelKind::fail_fast);
  const Reason second(parent_cancelled(first, own, Time()));
  const Reason third(parent_cancelled(second, elsewhere, Time()));
  EXPECT_EQ(fold({err(Errc::full), cancelled(third)}), ChildEnd(err(Errc::full)));
}

TEST(Fold, OUT_4_a_stop_that_came_from_elsewhere_counts) {
  EXPECT_TRUE(fold({err(Errc::full), stopped(CancelKind::fail_fast, elsewhere)}).is_cancelled());
  EXPECT_TRUE(fold({err(Errc::full), stopped_below(CancelKind::fail_fast, elsewhere)}).is_cancelled());
  EXPECT_TRUE(fold({err(Errc::full), stopped(CancelKind::user)}).is_cancelled());
  EXPECT_TRUE(fold({err(Errc::full), stopped_below(CancelKind::shutdown, own)}).is_cancelled());
}

TEST(Fold, OUT_4_a_child_that_panicked_while_it_was_stopped_is_seen) {
  EXPECT_TRUE(
      fold({err(Errc::full), panicked(lawtest::exceptions()[0]), stopped(CancelKind::fail_fast)}).is_panicked());
}

TEST(Fold, OUT_4_notes_of_a_child_that_is_left_out_are_kept) {
  ChildEnd loser = stopped(CancelKind::race_lost);
  loser.add_note(lawtest::some_notes()[2]);
  EXPECT_EQ(fold({ok(), loser}).notes(), loser.notes());
}

TEST(Fold, OUT_4_a_throwing_finalizer_folds_in_as_panicked) {
  EXPECT_TRUE(fold({ok(), err(Errc::full), panicked(lawtest::exceptions()[0])}).is_panicked());
}

TEST(Fold, OUT_4_only_fail_fast_cancels_the_siblings) {
  const ChildEnd failed = err(Errc::full);
  EXPECT_TRUE(cancels_siblings(FoldPolicy::fail_fast, failed, child));
  EXPECT_FALSE(cancels_siblings(FoldPolicy::collect, failed, child));
  EXPECT_FALSE(cancels_siblings(FoldPolicy::supervised, failed, child));
}

TEST(Fold, OUT_4_errors_panics_and_the_childs_own_limits_are_failures) {
  EXPECT_FALSE(is_failure(ok(), child));
  EXPECT_TRUE(is_failure(err(Errc::full), child));
  EXPECT_TRUE(is_failure(panicked(lawtest::exceptions()[0]), child));
  for (std::uint8_t i = 0; i < cancel_kind_count; ++i) {
    const auto kind = static_cast<CancelKind>(i);
    const bool limit = kind == CancelKind::timeout || kind == CancelKind::deadline || kind == CancelKind::poll_quota ||
                       kind == CancelKind::cost_budget;
    EXPECT_EQ(is_failure(cancelled(reason(kind, own, child.task)), child), limit) << to_string(kind);
    EXPECT_FALSE(is_failure(cancelled(reason(kind, own, task_id(8))), child)) << "another task's " << to_string(kind);
    EXPECT_FALSE(is_failure(cancelled(reason(kind, elsewhere, child.task)), child)) << "elsewhere " << to_string(kind);
  }
}

TEST(Fold, OUT_4_no_further_child_improves_a_region_of_up_to_two_children) {
  const std::vector<ChildEnd> all = {ok(),
                                     err(Errc::full),
                                     stopped(CancelKind::user),
                                     stopped(CancelKind::fail_fast),
                                     stopped(CancelKind::fail_fast, elsewhere),
                                     stopped_below(CancelKind::race_lost, own),
                                     panicked(lawtest::exceptions()[0])};
  for (const ChildEnd& a : all) {
    for (const ChildEnd& b : all) {
      for (const ChildEnd& extra : all) {
        const OutcomeKind before = fold({a, b}).kind();
        EXPECT_GE(fold({extra, a, b}).kind(), before);
        EXPECT_GE(fold({a, extra, b}).kind(), before);
        EXPECT_GE(fold({a, b, extra}).kind(), before);
      }
    }
  }
}

RC_GTEST_PROP(Fold, OUT_4_the_fold_is_monotone, (std::vector<Outcome<int>> ends, Outcome<int> extra)) {
  std::vector<ChildEnd> children;
  for (const auto& end : ends) children.push_back(end.map([](int) {}));
  const ChildEnd without = fold(children);
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, children.size() + 1);
  children.insert(children.begin() + static_cast<std::ptrdiff_t>(at), extra.map([](int) {}));
  RC_ASSERT(fold(children).kind() >= without.kind());
}

RC_GTEST_PROP(Fold, OUT_4_making_one_child_worse_never_improves_the_region,
              (std::vector<Outcome<int>> ends, Outcome<int> worse)) {
  RC_PRE(!ends.empty());
  std::vector<ChildEnd> children;
  for (const auto& end : ends) children.push_back(end.map([](int) {}));
  const ChildEnd before = fold(children);
  ChildEnd& changed = children[*rc::gen::inRange<std::size_t>(0, children.size())];
  RC_PRE(worse.kind() >= changed.kind());
  RC_PRE(!stopped_by_own_region(worse.map([](int) {}), own));
  changed = worse.map([](int) {});
  RC_ASSERT(fold(children).kind() >= before.kind());
}

}  // namespace
}  // namespace calm
