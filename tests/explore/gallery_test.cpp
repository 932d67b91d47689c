// Every planted bug is found, with as few preemptions as the gallery says; mended, nothing is left to find.
#include "apps/calm/gallery/gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/strategies.hpp"
#include "calm/explore/threads.hpp"

namespace calm::gallery {
namespace {

using explore::Report;
using explore::Threads;

/// The size at which an exhibit is explored without reduction.
std::uint32_t small(const Exhibit& exhibit) { return std::min(exhibit.n.last, exhibit.n.first + 1); }

TEST(Gallery, LAB_5_every_planted_bug_is_found_by_visiting_all_executions) {
  for (const Exhibit& exhibit : exhibits()) {
    if (exhibit.kind == Exhibit::Kind::unruly) continue;
    const Report report = explore::explore_threads(exhibit.make(false, small(exhibit)));
    EXPECT_TRUE(report.exhausted) << exhibit.name;
    EXPECT_EQ(report.blocked, 0U) << exhibit.name;
    EXPECT_EQ(report.fingerprints, report.executions) << exhibit.name;
    EXPECT_GT(report.buggy, 0U) << exhibit.name;
    EXPECT_LT(report.buggy, report.executions) << exhibit.name << ": a bug that always shows is no race";
  }
}

TEST(Gallery, LAB_5_every_mended_program_is_exhausted_without_a_bug) {
  for (const Exhibit& exhibit : exhibits()) {
    const Report report = explore::explore_threads(exhibit.make(true, small(exhibit)));
    EXPECT_TRUE(report.exhausted) << exhibit.name;
    EXPECT_EQ(report.blocked, 0U) << exhibit.name;
    EXPECT_EQ(report.fingerprints, report.executions) << exhibit.name;
    EXPECT_EQ(report.buggy, 0U) << exhibit.name << ": " << (report.ok() ? "" : report.failures[0].problem);
    EXPECT_EQ(report.deadlocks, 0U) << exhibit.name;
  }
}

TEST(Gallery, LAB_3_a_bug_needs_as_many_preemptions_as_the_gallery_says_and_none_less) {
  for (const Exhibit& exhibit : exhibits()) {
    if (exhibit.kind == Exhibit::Kind::unruly) continue;
    Threads program(exhibit.make(false, small(exhibit)));
    const auto shortest = explore::fewest_preemptions(program, {}, 4);
    ASSERT_TRUE(shortest.has_value()) << exhibit.name;
    EXPECT_EQ(shortest->preemptions, exhibit.preemptions) << exhibit.name;
    EXPECT_EQ(explore::count_preemptions(program, shortest->failure.schedule), exhibit.preemptions) << exhibit.name;
    EXPECT_GT(explore::explore_all(program, {}, exhibit.preemptions).buggy, 0U) << exhibit.name;
    if (exhibit.preemptions == 0) continue;
    const Report fewer = explore::explore_all(program, {}, exhibit.preemptions - 1);
    EXPECT_TRUE(fewer.exhausted) << exhibit.name;
    EXPECT_EQ(fewer.buggy, 0U) << exhibit.name;
  }
}

TEST(Gallery, LAB_6_unruly_programs_are_named_for_what_they_are) {
  const Report spin = explore::explore_threads(find("endless_spin").exhibit->make(false, 0));
  EXPECT_TRUE(spin.exhausted);
  EXPECT_GT(spin.lassos, 0U);
  const Report work = explore::explore_threads(find("endless_work").exhibit->make(false, 0));
  EXPECT_EQ(work.cut_short, 1U);
  EXPECT_THROW((void)explore::explore_threads(find("coin_toss").exhibit->make(false, 0)), explore::NotDeterministic);
}

TEST(Gallery, names_are_found_and_have_a_mended_side) {
  for (const Exhibit& exhibit : exhibits()) {
    EXPECT_EQ(find(exhibit.name).exhibit, &exhibit);
    EXPECT_FALSE(find(exhibit.name).fixed);
    const Found mended = find(std::string(exhibit.name) + std::string(fixed_suffix));
    EXPECT_EQ(mended.exhibit, &exhibit);
    EXPECT_TRUE(mended.fixed);
  }
  EXPECT_EQ(find("no_such_bug").exhibit, nullptr);
  EXPECT_EQ(find("-fixed").exhibit, nullptr);
}

}  // namespace
}  // namespace calm::gallery
