// Every planted bug is found, with as few preemptions as the gallery says; mended, nothing is left to find.
#include "apps/calm/gallery/gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "calm/explore/execution.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/reorder.hpp"
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

/// Keeps all executions with a problem.
class Failures final : public explore::Listener {
 public:
  explicit Failures(Threads& program) : program_(program) {}
  void ended(const explore::Execution& execution, bool deadlock) override {
    if (deadlock || program_.failed()) found.push_back(execution);
  }
  std::vector<explore::Execution> found;

 private:
  Threads& program_;
};

TEST(Gallery, LAB_3_no_failure_needs_fewer_preemptions_in_any_order_of_its_steps_that_means_the_same) {
  for (const Exhibit& exhibit : exhibits()) {
    if (exhibit.kind == Exhibit::Kind::unruly) continue;
    Threads program(exhibit.make(false, small(exhibit)));
    Failures failures(program);
    const Report report = explore::explore_optimal(program, {}, &failures);
    ASSERT_EQ(failures.found.size(), report.buggy) << exhibit.name;
    std::uint32_t fewest = UINT32_MAX;
    for (const explore::Execution& run : failures.found) {
      const auto reordered = explore::with_fewest_preemptions(program, run);
      ASSERT_TRUE(reordered.has_value()) << exhibit.name;
      EXPECT_EQ(explore::count_preemptions(program, reordered->schedule), reordered->preemptions) << exhibit.name;
      fewest = std::min(fewest, reordered->preemptions);
    }
    EXPECT_EQ(fewest, exhibit.preemptions) << exhibit.name;
  }
}

TEST(Gallery, LAB_3_ten_philosophers_need_one_preemption) {
  Threads program(zoo::find("philosophers")->make(10, 0));
  Failures failures(program);
  (void)explore::explore_optimal(program, {}, &failures);
  ASSERT_EQ(failures.found.size(), 1U);
  const auto reordered = explore::with_fewest_preemptions(program, failures.found[0]);
  ASSERT_TRUE(reordered.has_value());
  EXPECT_EQ(reordered->preemptions, 1U);
  EXPECT_EQ(reordered->schedule.size(), 10U);
  EXPECT_FALSE(explore::with_fewest_preemptions(program, failures.found[0], 20).has_value());
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
