#include "apps/calm/scenario/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apps/calm/scenario/schema.hpp"
#include "calm/trace/reader.hpp"

namespace calm::scenario {
namespace {

bool is_refusal(const StepRow& row, Status status) noexcept {
  if (status) return false;
  return std::find(row.answers.begin(), row.answers.end(), status.error()) == row.answers.end();
}

/// All that a refused operation leaves as it was.
struct Before {
  explicit Before(World& world)
      : state(world.digest()),
        events(world.worker().recorder().last()),
        queued(world.host().scheduled()),
        findings(world.host().findings().size()) {}

  std::uint64_t state;
  std::uint64_t events;
  std::size_t queued;
  std::size_t findings;
};

void demand_unchanged(World& world, const Step& step, const Before& before) {
  const Before after(world);
  if (after.state != before.state) world.differ(step, "refused", "the state as before", "another state digest");
  if (after.events != before.events) world.differ(step, "refused", "no event", "new events in the trace");
  if (after.queued != before.queued) world.differ(step, "refused", "nothing scheduled", "a task in the queue");
  if (after.findings != before.findings) world.differ(step, "refused", "no finding", "a new finding");
}

// Gives: false when the answer is not the expected one; what follows would only tell about that.
bool act_once(World& world, const Step& step) {
  const Before before(world);
  const Status status = step.row->act(world, step);
  world.keep_trace();
  if (!step.row->polls && is_refusal(*step.row, status)) demand_unchanged(world, step, before);
  const auto expected = step.word("expect", Errc{});
  if (status == (expected == Errc{} ? Status() : Status(expected))) return true;
  world.differ(step, "answer", expected == Errc{} ? "ok" : std::string(to_string(expected)),
               std::string(to_string(status)));
  return false;
}

bool take(World& world, const Step& step) {
  if (step.row->act == nullptr) {
    step.row->look(world, step);
    world.keep_trace();
    return true;
  }
  const bool repeats = step.find("times") != nullptr;
  for (std::uint64_t i = 1; i <= step.number("times", 1); ++i) {
    world.set_repetition(repeats ? i : 0);
    if (!act_once(world, step)) return false;
  }
  world.set_repetition(0);
  return true;
}

struct Run {
  std::vector<Difference> differences;
  std::uint64_t digest = 0;
  std::uint64_t semantic = 0;
};

Run run_once(const Scenario& scenario, const kernel::Profile& profile) {
  World world(scenario, profile);
  for (const Step& step : scenario.steps) {
    if (!take(world, step)) return {world.differences(), 0, 0};
  }
  Run done{world.differences(), world.digest(), 0};
  for (const kernel::Finding& finding : world.host().findings()) {
    done.differences.push_back({scenario.place, "findings", "every finding is named by a step", to_string(finding)});
  }
  world.read_trace();
  done.semantic = trace::semantic_digest(world.trace());
  return done;
}

// Gives: false when the file does not state the digest.
bool compare(const Scenario& scenario, std::string_view key, const std::optional<StatedDigest>& stated,
             const std::string& found, std::vector<Difference>& differences) {
  if (!stated) {
    differences.push_back(
        {scenario.place, std::string(key), "a stated value; calm scenario --update writes it", found});
    return false;
  }
  if (stated->hex != found) differences.push_back({stated->place, std::string(key), stated->hex, found});
  return true;
}

Result judge(const Scenario& scenario, const kernel::Profile& profile) {
  Run first = run_once(scenario, profile);
  Result result{std::move(first.differences), {}, {}, DifferenceClass::regression};
  if (!result.differences.empty()) return result;
  const Run second = run_once(scenario, profile);
  if (second.digest != first.digest || second.semantic != first.semantic) {
    result.differences.push_back({scenario.place, "second run", "the digests of the first", "other ones"});
    return result;
  }
  result.digest = hex_of(first.digest);
  result.semantic = hex_of(first.semantic);
  const bool states = compare(scenario, "digest", scenario.digest, result.digest, result.differences);
  const bool tells = compare(scenario, "semantic", scenario.semantic, result.semantic, result.differences);
  if (!states || !tells) result.kind = DifferenceClass::harness_defect;
  if (result.differences.empty()) result.kind = DifferenceClass::none;
  return result;
}

}  // namespace

std::string hex_of(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

Result run(const Scenario& scenario, const kernel::Profile& profile) {
  try {
    Result result = judge(scenario, profile);
    if (!scenario.spec_defect.empty() && result.kind == DifferenceClass::regression) {
      result.kind = DifferenceClass::spec_defect;
    }
    return result;
  } catch (const Problem& problem) {
    return {
        {{problem.place(), "step", "one that can be run", problem.what()}}, {}, {}, DifferenceClass::harness_defect};
  }
}

}  // namespace calm::scenario
