#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

#include "calm/model/reason.hpp"
#include "tests/law/generators.hpp"

namespace calm {
namespace {

using lawtest::build;
using lawtest::Link;
using lawtest::region_id;
using lawtest::task_id;

Reason simple(CancelKind kind, std::uint64_t at = 0, std::string_view message = {}, std::uint32_t region = 1,
              std::uint32_t task = 0) {
  return Reason(
      {.kind = kind, .region = region_id(region), .task = task_id(task), .at = Time::at_ns(at), .message = message});
}

Reason nested(std::size_t levels, CancelKind root, std::string_view message = {}) {
  std::vector<Link> links(levels, Link{CancelKind::parent_cancelled, 1, 0, 5, std::string(message)});
  links.front().kind = root;
  return build(links);
}

/// Everything a reason says, without asking the comparison under test.
std::string whole_story(const Reason& reason) {
  if (!reason) return "none";
  std::string story = reason.truncated() ? "truncated" : "complete";
  for (const ReasonLevel& level : reason.levels()) {
    story += "\n" + to_string(level) + " " + std::to_string(level.severity) + " " + to_string(level.cleanup);
  }
  return story;
}

std::size_t bytes_of(const Reason& reason) {
  std::size_t bytes = 0;
  for (const ReasonLevel& level : reason.levels()) bytes += chain_cost(level);
  return bytes;
}

// --- CAN-2: what a reason carries, and how much of it

TEST(Reason, CAN_2_a_reason_carries_all_the_law_names) {
  const Reason cause = simple(CancelKind::shutdown, 3, "SIGTERM", 1, 4);
  const Reason reason({.kind = CancelKind::linked_exit,
                       .region = region_id(2),
                       .task = task_id(9),
                       .at = Time::at_ns(10),
                       .message = "peer left",
                       .cause = &cause});
  EXPECT_EQ(reason.kind(), CancelKind::linked_exit);
  EXPECT_EQ(reason.region(), region_id(2));
  EXPECT_EQ(reason.task(), task_id(9));
  EXPECT_EQ(reason.at(), Time::at_ns(10));
  EXPECT_EQ(reason.message(), "peer left");
  EXPECT_FALSE(reason.truncated());
  ASSERT_EQ(reason.levels().depth, 2U);
  const ReasonLevel& root = reason.levels().levels[1];
  EXPECT_EQ(root.kind, CancelKind::shutdown);
  EXPECT_EQ(root.message, "SIGTERM");
  EXPECT_EQ(root.task, task_id(4));
}

TEST(Reason, CAN_2_the_story_outlives_everything_it_was_made_from) {
  Reason reason;
  {
    std::string message = "a message that is gone soon";
    const Reason cause({.at = Time(), .message = message});
    reason = Reason({.kind = CancelKind::timeout, .message = message, .cause = &cause});
    message.assign(message.size(), 'x');
  }
  const Reason copy = reason;
  reason = Reason();
  EXPECT_EQ(copy.message(), "a message that is gone soon");
  EXPECT_EQ(copy.levels().levels[1].message, "a message that is gone soon");
}

TEST(Reason, CAN_2_a_chain_keeps_sixteen_levels_and_drops_those_nearest_the_root) {
  EXPECT_EQ(nested(15, CancelKind::user).levels().depth, 15U);
  const Reason full = nested(16, CancelKind::user);
  EXPECT_EQ(full.levels().depth, 16U);
  EXPECT_FALSE(full.truncated());
  EXPECT_EQ(full.levels().levels[15].kind, CancelKind::user);

  const Reason over = nested(17, CancelKind::user);
  EXPECT_EQ(over.levels().depth, 16U);
  EXPECT_TRUE(over.truncated());
  EXPECT_EQ(over.levels().levels[15].kind, CancelKind::parent_cancelled) << "the root must be the one that went";
  EXPECT_EQ(nested(1000, CancelKind::user).levels().depth, 16U);
}

TEST(Reason, CAN_2_a_chain_keeps_4096_bytes_of_88_a_level_plus_messages) {
  const std::string message(424, 'm');  // 88 + 424 = 512, so eight levels are 4096 exactly
  const Reason full = nested(8, CancelKind::user, message);
  EXPECT_EQ(bytes_of(full), 4096U);
  EXPECT_FALSE(full.truncated());
  const Reason over = nested(9, CancelKind::user, message);
  EXPECT_EQ(over.levels().depth, 8U);
  EXPECT_TRUE(over.truncated());

  const Reason one_byte_more = build({Link{CancelKind::user, 1, 0, 0, std::string(425, 'm')},
                                      Link{CancelKind::timeout, 1, 0, 0, std::string(4096 - 88 - 512, 'm')}});
  EXPECT_EQ(one_byte_more.levels().depth, 1U);
  EXPECT_TRUE(one_byte_more.truncated());
}

TEST(Reason, CAN_2_a_message_longer_than_the_limit_is_cut_and_marked) {
  const std::string longest(4008, 'm');
  EXPECT_FALSE(simple(CancelKind::user, 0, longest).truncated());
  const Reason cut = simple(CancelKind::user, 0, longest + "m");
  EXPECT_TRUE(cut.truncated());
  EXPECT_EQ(cut.message(), longest);
  // A two-byte letter across the limit goes as a whole.
  EXPECT_EQ(simple(CancelKind::user, 0, std::string(4007, 'm') + "\xC3\xA4").message(), std::string(4007, 'm'));
}

TEST(Reason, CAN_2_truncation_cannot_weaken_what_the_dropped_causes_demanded) {
  const Reason reason = nested(40, CancelKind::shutdown);
  EXPECT_TRUE(reason.truncated());
  for (const ReasonLevel& level : reason.levels()) EXPECT_NE(level.kind, CancelKind::shutdown);
  EXPECT_EQ(reason.severity(), 5);
  EXPECT_EQ(reason.cleanup().polls, Quota(50));
  EXPECT_EQ(reason.cleanup().priority, 255);
}

TEST(Reason, CAN_2_the_mark_stays_when_the_chain_grows_on) {
  const Reason over = nested(17, CancelKind::user);
  EXPECT_TRUE(Reason(parent_cancelled(over, region_id(1), Time())).truncated());
}

RC_GTEST_PROP(Reason, CAN_2_no_chain_exceeds_its_limits, (Reason reason)) {
  RC_ASSERT(reason.levels().depth >= 1);
  RC_ASSERT(reason.levels().depth <= chain_level_max);
  RC_ASSERT(bytes_of(reason) <= chain_byte_max);
  for (const ReasonLevel& level : reason.levels()) {
    RC_ASSERT(reason.severity() >= level.severity);
    RC_ASSERT(within(reason.cleanup(), level.cleanup));
  }
}

// --- CAN-4: strengthening

TEST(Reason, CAN_4_the_total_order_goes_by_severity_time_message_kind_origin_and_causes) {
  const auto stronger = [](const Reason& a, const Reason& b) {
    return compare_strength(a.levels(), b.levels()) < 0 && compare_strength(b.levels(), a.levels()) > 0;
  };
  const auto user = simple(CancelKind::user, 5, "m", 1, 1);
  EXPECT_TRUE(stronger(simple(CancelKind::timeout, 9), user)) << "severity first";
  EXPECT_TRUE(stronger(simple(CancelKind::user, 4), user)) << "then the earlier time";
  EXPECT_TRUE(stronger(user, simple(CancelKind::user, 5, "", 1, 1))) << "then a present message";
  EXPECT_TRUE(stronger(user, simple(CancelKind::user, 5, "n", 1, 1))) << "then the smaller message";
  EXPECT_TRUE(stronger(simple(CancelKind::timeout, 5, "m"), simple(CancelKind::deadline, 5, "m"))) << "then the kind";
  EXPECT_TRUE(stronger(user, simple(CancelKind::user, 5, "m", 2, 1))) << "then the origin region";
  EXPECT_TRUE(stronger(user, simple(CancelKind::user, 5, "m", 1, 2))) << "then the origin task";
  EXPECT_TRUE(stronger(user, simple(CancelKind::user, 5, "m", 1, 0))) << "a known task before an unknown one";

  const Reason early = simple(CancelKind::user, 1);
  const Reason late = simple(CancelKind::user, 2);
  const auto caused = [](const Reason* cause) { return Reason({.kind = CancelKind::shutdown, .cause = cause}); };
  EXPECT_TRUE(stronger(caused(&early), caused(&late))) << "then the causes in the same way";
  EXPECT_TRUE(stronger(caused(&late), caused(nullptr))) << "a present cause before an absent one";
}

/// Reasons that differ in one or two keys each, with and without causes.
const std::vector<Reason>& all_small_reasons() {
  static const std::vector<Reason> all = [] {
    std::vector<Reason> reasons;
    const Reason root = simple(CancelKind::user, 0, "root");
    const Reason shutdown = simple(CancelKind::shutdown, 1);
    for (const CancelKind kind : {CancelKind::user, CancelKind::timeout, CancelKind::deadline, CancelKind::shutdown}) {
      for (const std::uint64_t at : {0U, 1U}) {
        for (const char* message : {"", "a"}) {
          for (const Reason* cause : {static_cast<const Reason*>(nullptr), &root, &shutdown}) {
            reasons.push_back(Reason(
                {.kind = kind, .region = region_id(1), .at = Time::at_ns(at), .message = message, .cause = cause}));
          }
        }
      }
    }
    reasons.push_back(nested(20, CancelKind::user));
    reasons.push_back(Reason());
    return reasons;
  }();
  return all;
}

TEST(Reason, CAN_4_strengthening_is_commutative_associative_and_idempotent_on_every_small_reason) {
  const auto& all = all_small_reasons();
  for (const Reason& a : all) {
    ASSERT_EQ(whole_story(strengthen(a, a)), whole_story(a));
    for (const Reason& b : all) {
      const Reason ab = strengthen(a, b);
      ASSERT_EQ(whole_story(ab), whole_story(strengthen(b, a)));
      ASSERT_EQ(a == b, whole_story(a) == whole_story(b));
      for (const Reason& c : all) {
        if (strengthen(ab, c) != strengthen(a, strengthen(b, c))) FAIL() << a << "\n" << b << "\n" << c;
      }
    }
  }
}

RC_GTEST_PROP(Reason, CAN_4_strengthening_is_commutative_associative_and_idempotent, (Reason a, Reason b, Reason c)) {
  RC_ASSERT(whole_story(strengthen(a, b)) == whole_story(strengthen(b, a)));
  RC_ASSERT(whole_story(strengthen(a, strengthen(b, c))) == whole_story(strengthen(strengthen(a, b), c)));
  RC_ASSERT(whole_story(strengthen(a, a)) == whole_story(a));
  RC_ASSERT(whole_story(strengthen(a, Reason())) == whole_story(a));
  RC_ASSERT((a == b) == (whole_story(a) == whole_story(b)));
}

TEST(Reason, CAN_4_reasons_that_differ_only_in_the_mark_give_the_same_result_both_ways) {
  const Reason complete = nested(16, CancelKind::parent_cancelled);
  const Reason truncated = nested(17, CancelKind::parent_cancelled);
  EXPECT_NE(complete, truncated);
  EXPECT_EQ(whole_story(strengthen(complete, truncated)), whole_story(strengthen(truncated, complete)));
}

TEST(Reason, CAN_4_reasons_that_differ_only_in_a_causes_clean_up_give_the_same_result_both_ways) {
  const auto with_cause = [](std::int64_t seconds) {
    return build({Link{CancelKind::user, 1, 0, 0, "", seconds}, Link{CancelKind::timeout, 1, 0, 0, "", 1}});
  };
  EXPECT_NE(with_cause(2), with_cause(3));
  EXPECT_EQ(whole_story(strengthen(with_cause(2), with_cause(3))),
            whole_story(strengthen(with_cause(3), with_cause(2))));
}

RC_GTEST_PROP(Reason, CAN_4_the_order_is_total, (Reason a, Reason b, Reason c)) {
  const auto ab = compare_strength(a.levels(), b.levels());
  const auto ba = compare_strength(b.levels(), a.levels());
  RC_ASSERT((ab < 0) == (ba > 0));
  RC_ASSERT((ab == 0) == (ba == 0));
  const auto bc = compare_strength(b.levels(), c.levels());
  if (ab <= 0 && bc <= 0) RC_ASSERT(bool(compare_strength(a.levels(), c.levels()) <= 0));
}

RC_GTEST_PROP(Reason, CAN_4_strengthening_never_weakens_and_never_widens, (Reason a, Reason b)) {
  const Reason both = strengthen(a, b);
  RC_ASSERT(both.severity() == std::max(a.severity(), b.severity()));
  RC_ASSERT(both.cleanup() == meet(a.cleanup(), b.cleanup()));
  RC_ASSERT(bool(compare_strength(both.levels(), a.levels()) <= 0));
  RC_ASSERT(bool(compare_strength(both.levels(), b.levels()) <= 0));
}

RC_GTEST_PROP(Reason, CAN_4_the_ingredients_stay_as_they_were, (Reason a, Reason b)) {
  const std::string before = a.explain() + b.explain();
  const Reason shared_a = a;
  const Reason shared_b = b;
  RC_ASSERT(bool(strengthen(std::move(a), std::move(b))));
  RC_ASSERT(shared_a.explain() + shared_b.explain() == before);
}

// --- CAN-5: what children are told

TEST(Reason, CAN_5_child_regions_are_told_parent_cancelled_with_the_cause_attached) {
  const Reason user = simple(CancelKind::user, 5, "stop", 1);
  const Reason child(parent_cancelled(user, region_id(1), Time::at_ns(5)));
  EXPECT_EQ(child.kind(), CancelKind::parent_cancelled);
  EXPECT_EQ(child.region(), region_id(1));
  EXPECT_EQ(child.severity(), 4) << "the larger of ParentCancelled and User";
  EXPECT_EQ(child.cleanup().polls, Quota(200)) << "the meet of 200 and 1000";
  EXPECT_EQ(child.cleanup().priority, 220);
  ASSERT_EQ(child.levels().depth, 2U);
  EXPECT_EQ(child.levels().levels[1].kind, CancelKind::user);
  EXPECT_EQ(child.levels().levels[1].message, "stop");
}

RC_GTEST_PROP(Reason, CAN_5_severity_is_the_maximum_and_clean_up_the_meet_along_the_chain, (Reason cause)) {
  const Reason child(parent_cancelled(cause, region_id(1), Time::at_ns(1)));
  RC_ASSERT(child.severity() == std::max<std::uint8_t>(4, cause.severity()));
  RC_ASSERT(child.cleanup() == meet(cause.cleanup(), cleanup_budget(CancelKind::parent_cancelled, Time::at_ns(1))));
}

TEST(Reason, CAN_2_explain_tells_who_when_why_and_what_is_left) {
  const Reason root = simple(CancelKind::timeout, 1'500'000'000, "too \"slow\"\n", 1, 4);
  const Reason child(parent_cancelled(root, region_id(1), Time::at_ns(1'500'000'000)));
  EXPECT_EQ(child.explain(),
            "ParentCancelled at 1.5s by r1\n"
            "  because Timeout at 1.5s by r1 t4: \"too \\\"slow\\\"\\n\"\n"
            "  severity 4, clean-up until 6.5s with 200 polls at priority 220");
  EXPECT_NE(nested(17, CancelKind::user).explain().find("truncated"), std::string::npos);
  EXPECT_EQ(to_string(root), "Timeout at 1.5s by r1 t4: \"too \\\"slow\\\"\\n\"");
  EXPECT_EQ(to_string(Reason()), "none");
  EXPECT_EQ(Reason().explain(), "no reason: not cancelled");
}

}  // namespace
}  // namespace calm
