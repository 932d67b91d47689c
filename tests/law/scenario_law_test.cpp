// The scenario files, the profiles they run under, and what the runner finds when something comes out otherwise.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/loader.hpp"
#include "apps/calm/scenario/runner.hpp"
#include "apps/calm/scenario/schema.hpp"
#include "apps/calm/scenario/update.hpp"
#include "calm/kernel/config.hpp"

namespace calm::scenario {
namespace {

std::vector<ScenarioFile> all_files() {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(CALM_SCENARIOS)) {
    if (entry.path().extension() == ".toml") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<ScenarioFile> files;
  for (const std::string& path : paths) files.push_back(load_file(path));
  return files;
}

const kernel::Profile& server() { return *kernel::find_profile("server"); }

/// A file with one scenario of these steps.
ScenarioFile with_steps(std::string_view steps, std::string_view more = {}) {
  std::string text = "format = 1\nfamily = \"region\"\n[[scenario]]\nid = \"x\"\nlaw = [\"REG-1\"]\nabout = \"x\"\n";
  return load_text("x.toml", text.append("steps = [\n").append(steps).append("\n]\n").append(more));
}

Result result_of(std::string_view steps) { return run(with_steps(steps).scenarios.front(), server()); }

TEST(Scenario, PRF_1_every_scenario_has_the_same_digests_under_every_profile) {
  for (const ScenarioFile& file : all_files()) {
    for (const Scenario& scenario : file.scenarios) {
      const Result expected = run(scenario, server());
      EXPECT_EQ(expected.kind, DifferenceClass::none) << scenario.id;
      for (const kernel::Profile& profile : kernel::profiles) {
        const Result found = run(scenario, profile);
        EXPECT_EQ(found.digest, expected.digest) << scenario.id << " under " << profile.name;
        EXPECT_EQ(found.semantic, expected.semantic) << scenario.id << " under " << profile.name;
      }
    }
  }
}

TEST(Scenario, PRF_1_a_profile_sets_limits_and_nothing_else) {
  kernel::Config mine;
  mine.root_budget.priority = 7;
  mine.leaks.policy = kernel::LeakPolicy::panic;
  mine.strict_tokens = true;
  mine.trace_when_full = trace::WhenFull::refuse;
  for (const kernel::Profile& profile : kernel::profiles) {
    const kernel::Config config = with_profile(mine, profile);
    EXPECT_EQ(config.ceilings, profile.ceilings);
    EXPECT_EQ(config.trace_capacity, profile.trace_capacity);
    EXPECT_EQ(config.root_budget, mine.root_budget);
    EXPECT_EQ(config.root_limits, mine.root_limits);
    EXPECT_EQ(config.leaks.policy, mine.leaks.policy);
    EXPECT_EQ(config.strict_tokens, mine.strict_tokens);
    EXPECT_EQ(config.trace_when_full, mine.trace_when_full);
    EXPECT_EQ(config.workers, mine.workers);
  }
}

TEST(Scenario, LAB_11_the_files_cover_every_family_and_every_step) {
  std::set<std::string> families;
  std::set<std::string_view> verbs;
  for (const ScenarioFile& file : all_files()) {
    families.insert(file.family);
    for (const Scenario& scenario : file.scenarios) {
      for (const Step& step : scenario.steps) verbs.insert(step.row->verb);
    }
  }
  EXPECT_EQ(families, (std::set<std::string>{"budget", "cancel", "channel", "finalization", "obligation", "outcome",
                                             "region", "scheduler", "task", "timer"}));
  for (const StepRow& row : step_rows()) EXPECT_TRUE(verbs.contains(row.verb)) << row.verb << " is in no scenario";
}

TEST(Scenario, LAB_11_ids_and_laws_of_the_files_are_real) {
  const std::string spec = read_file(CALM_SCENARIOS "/../../spec/SPEC.md");
  std::set<std::string> ids;
  for (const ScenarioFile& file : all_files()) {
    for (const Scenario& scenario : file.scenarios) {
      EXPECT_TRUE(ids.insert(scenario.id).second) << scenario.id << " stands twice";
      EXPECT_TRUE(scenario.id.starts_with(file.family + ".")) << scenario.id;
      for (const std::string& law : scenario.laws) {
        const bool known =
            spec.find("- " + law + " ") != std::string::npos || spec.find("**" + law + " ") != std::string::npos;
        EXPECT_TRUE(known) << scenario.id << " names " << law;
      }
    }
  }
}

TEST(Scenario, LAB_11_HND_2_every_error_that_kernel_channels_and_timers_give_is_provoked) {
  std::set<std::uint64_t> provoked;
  for (const ScenarioFile& file : all_files()) {
    for (const Scenario& scenario : file.scenarios) {
      for (const Step& step : scenario.steps) {
        provoked.insert(step.number("expect", 0));
        const bool asks = step.row->verb == "quiescent" || step.row->verb == "idle";
        if (asks) provoked.insert(std::get<std::uint64_t>(step.subject.value));
      }
    }
  }
  // The kernel's own are the first 25 without the injector's, and busy.
  const std::set<Errc> of_others{Errc::full, Errc::empty, Errc::disconnected, Errc::duration_exceeded};
  for (const ErrcEntry& row : errc_table) {
    const bool of_kernel =
        (row.code <= Errc::would_block && row.code != Errc::admission_closed) || row.code == Errc::busy;
    EXPECT_EQ(provoked.contains(static_cast<std::uint64_t>(row.code)), of_kernel || of_others.contains(row.code))
        << row.name;
  }
}

TEST(Scenario, LAB_11_what_comes_out_otherwise_names_step_and_place) {
  const Result result =
      result_of("{ spawn = \"t\", in = \"root\" },\n{ task = \"t\", state = \"Running\", started = true },");
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_EQ(result.differences.size(), 2U) << "a look that is wrong does not end the run";
  EXPECT_EQ(result.differences[0].place, (Place{9, 1}));
  EXPECT_EQ(result.differences[0].what, "task \"t\", state");
  EXPECT_EQ(result.differences[0].expected, "Running");
  EXPECT_EQ(result.differences[0].found, "Created");
}

TEST(Scenario, LAB_11_an_answer_that_is_wrong_ends_the_run) {
  const Result result = result_of("{ advance = \"root\" },\n{ region = \"root\", state = \"Closed\" },");
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].expected, "ok");
  EXPECT_EQ(result.differences[0].found, "invalid_transition");
}

TEST(Scenario, LAB_11_a_step_that_cannot_be_run_is_a_defect_of_the_file) {
  const Result result = result_of("{ spawn = \"t\", in = \"root\" },\n{ checkpoint = \"t\" },");
  EXPECT_EQ(result.kind, DifferenceClass::harness_defect);
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].place.line, 9U);
  EXPECT_NE(result.differences[0].found.find("is not being polled"), std::string::npos);
}

TEST(Scenario, LAB_11_CHN_2_a_program_that_waits_must_be_woken_before_it_goes_on) {
  const Result result = result_of(
      "{ program = \"a\", in = \"root\" },\n{ open = \"c\", by = \"a\" },\n"
      "{ recv = \"c\", by = \"a\", expect = \"would_block\" },\n{ resume = \"a\" },");
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_GE(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].place.line, 11U);
  EXPECT_EQ(result.differences[0].what, "resume \"a\", woken");
  EXPECT_EQ(result.differences[0].found, "false");
}

TEST(Scenario, LAB_11_a_value_that_comes_out_otherwise_names_step_and_place) {
  const Result result = result_of(
      "{ program = \"a\", in = \"root\" },\n{ open = \"c\", by = \"a\" },\n"
      "{ send = \"c\", value = \"one\", by = \"a\" },\n{ recv = \"c\", by = \"a\", gives = \"two\" },\n"
      "{ arm = \"x\", at = \"5ms\" },\n{ fire = [\"x\"] },");
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_EQ(result.differences.size(), 2U);
  EXPECT_EQ(result.differences[0].place.line, 11U);
  EXPECT_EQ(result.differences[0].what, "recv \"c\", gives");
  EXPECT_EQ(result.differences[0].expected, "two");
  EXPECT_EQ(result.differences[0].found, "one");
  EXPECT_EQ(result.differences[1].what, "fire");
  EXPECT_EQ(result.differences[1].expected, "x");
  EXPECT_EQ(result.differences[1].found, "(none)");
}

TEST(Scenario, LAB_11_steps_that_no_program_can_take_are_a_defect_of_the_file) {
  const auto says = [](std::string_view steps, std::string_view text) {
    const std::string all = "{ program = \"a\", in = \"root\" },\n{ open = \"c\", by = \"a\" },\n" + std::string(steps);
    const Result result = result_of(all);
    EXPECT_EQ(result.kind, DifferenceClass::harness_defect) << steps;
    ASSERT_EQ(result.differences.size(), 1U) << steps;
    EXPECT_NE(result.differences[0].found.find(text), std::string::npos) << result.differences[0].found;
    EXPECT_GE(result.differences[0].place.line, 10U);
  };
  says("{ begin_poll = \"a\" },", "is a program");
  says("{ time = \"5s\" },\n{ time = \"4s\" },", "time does not go back; it is 5s");
  says("{ spawn = \"t\", in = \"root\" },\n{ recv = \"c\", by = \"t\" },", "\"t\" is no program");
  says("{ recv = \"c\", by = \"a\", expect = \"would_block\" },\n{ try_recv = \"c\", by = \"a\" },",
       "\"a\" still waits in its step recv of line 10; resume comes first");
  says("{ recv = \"c\", by = \"a\", expect = \"would_block\" },\n{ dismiss = \"a\" },", "cannot end yet");
  says("{ drop_sender = \"c\", by = \"a\" },\n{ drop_sender = \"c\", by = \"a\" },",
       "drop_sender: this sender of the channel is gone");
  says(
      "{ reserve_place = \"p\", of = \"c\", by = \"a\" },\n{ drop_place = \"p\", by = \"a\" },\n"
      "{ abort_place = \"p\", by = \"a\" },",
      "the place \"p\" was never reserved, or was dropped");
}

TEST(Scenario, LAB_11_a_finding_that_no_step_names_is_a_difference) {
  const Result result =
      result_of("{ create_region = \"r\", in = \"root\" },\n{ reserve = \"o\", in = \"r\" },\n{ close = \"r\" },");
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_EQ(result.differences.size(), 2U);
  EXPECT_EQ(result.differences[0].what, "findings");
}

TEST(Scenario, LAB_11_a_digest_is_stated_and_compared) {
  constexpr std::string_view steps = "{ close = \"root\" },";
  const Result unstated = result_of(steps);
  EXPECT_EQ(unstated.kind, DifferenceClass::harness_defect);
  const std::string digests = "digest = \"" + unstated.digest + "\"\nsemantic = \"" + unstated.semantic + "\"\n";
  EXPECT_EQ(run(with_steps(steps, digests).scenarios.front(), server()).kind, DifferenceClass::none);
  const std::string wrong = "digest = \"0123456789abcdef\"\nsemantic = \"" + unstated.semantic + "\"\n";
  const Result result = run(with_steps(steps, wrong).scenarios.front(), server());
  EXPECT_EQ(result.kind, DifferenceClass::regression);
  ASSERT_EQ(result.differences.size(), 1U);
  EXPECT_EQ(result.differences[0].what, "digest");
  EXPECT_EQ(result.differences[0].found, unstated.digest);
}

TEST(Scenario, LAB_11_a_doubt_about_the_law_is_a_class_of_its_own) {
  const ScenarioFile file = with_steps("{ advance = \"root\" },", "spec_defect = \"REG-7 does not say\"\n");
  EXPECT_EQ(run(file.scenarios.front(), server()).kind, DifferenceClass::spec_defect);
}

TEST(Scenario, LAB_11_an_update_changes_digests_and_nothing_else) {
  constexpr std::string_view text =
      "format = 1 # one\r\nfamily = \"region\"\n[[scenario]]\nid = \"x\"\nlaw = [\"REG-1\"]\nabout = \"x\"\n"
      "digest = '0123456789abcdef'   # as of today\nsteps = [\n  # quietly\n  { close = \"root\" },\n] # the end\n\n# tail";
  const ScenarioFile file = load_text("x.toml", text);
  const std::string updated = updated_text(text, {{&file.scenarios.front(), "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb"}});
  EXPECT_EQ(
      updated,
      "format = 1 # one\r\nfamily = \"region\"\n[[scenario]]\nid = \"x\"\nlaw = [\"REG-1\"]\nabout = \"x\"\n"
      "digest = 'aaaaaaaaaaaaaaaa'   # as of today\nsteps = [\n  # quietly\n  { close = \"root\" },\n] # the end\n"
      "semantic = \"bbbbbbbbbbbbbbbb\"\n\n# tail");
  EXPECT_EQ(load_text("x.toml", updated).scenarios.front().semantic->hex, "bbbbbbbbbbbbbbbb");
}

}  // namespace
}  // namespace calm::scenario
