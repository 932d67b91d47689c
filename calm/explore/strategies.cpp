#include "calm/explore/strategies.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/explore/execution.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/model/split_mix.hpp"

namespace calm::explore {
namespace {

Process nth(ProcessSet set, std::uint64_t n) noexcept {
  std::uint64_t bits = set.bits();
  while (n-- > 0) bits &= bits - 1;
  return static_cast<Process>(std::countr_zero(bits));
}

void take(Program& program, Execution& run, Process process, Way way) {
  Event& event = run.next();
  event.process = process;
  event.way = way;
  event.kind = take_step(program, process, way, event.touched);
  run.finish();
}

/// One order after the other: at every point those who could go on and were not tried yet.
class DepthFirst {
 public:
  DepthFirst(Program& program, const Options& options, std::uint32_t preemptions, Listener* listener)
      : program_(program), options_(options), preemptions_(preemptions), tally_(options, listener) {}

  Report run() {
    program_.restart();
    do {
      const bool livelock = go_forward();
      (void)tally_.end(program_, run_, livelock);
      if (tally_.is_enough()) return tally_.finish(false);
    } while (go_back());
    return tally_.finish(true);
  }

 private:
  struct Point {
    ProcessSet left;
    Way ways_left = 0;              // of the step that was taken there, beyond the way it went
    std::uint32_t preemptions = 0;  // used before it
  };

  bool go_forward() {
    while (!program_.failed()) {
      const ProcessSet enabled = program_.enabled();
      if (enabled.empty()) return false;
      if (run_.size() >= options_.max_steps) return true;
      const std::uint32_t at = run_.size();
      points_.resize(std::size_t{at} + 1);
      Point& point = points_[at];
      point.preemptions = at == 0 ? 0 : used_;
      point.left = enabled;
      const Process last = at == 0 ? process_max : run_[at - 1].process;
      const bool could_go_on = last != process_max && enabled.has(last);
      if (could_go_on && point.preemptions >= preemptions_) {
        point.left = ProcessSet();
        point.left.add(last);
      }
      go(at, could_go_on ? last : point.left.lowest(), 0);
    }
    return false;
  }

  void go(std::uint32_t at, Process process, Way way) {
    Point& point = points_[at];
    point.left.remove(process);
    const Process last = at == 0 ? process : run_[at - 1].process;
    const bool preempts = last != process && program_.enabled().has(last);
    used_ = point.preemptions + (preempts ? 1 : 0);
    point.ways_left = static_cast<Way>(program_.branches() ? program_.ways(process) - way - 1 : 0);
    take(program_, run_, process, way);
    ++tally_.report().steps;
  }

  bool go_back() {
    while (run_.size() != 0) {
      const std::uint32_t at = run_.size() - 1;
      const Process process = run_[at].process;
      const Way way = run_[at].way;
      run_.cut_to(at);
      if (points_[at].left.empty() && points_[at].ways_left == 0) continue;
      program_.restart();
      for (std::uint32_t i = 0; i < at; ++i) {
        scratch_.clear();
        (void)take_step(program_, run_[i].process, run_[i].way, scratch_);
        ++tally_.report().replayed;
        if (!(scratch_ == run_[i].touched)) throw NotDeterministic(run_, run_[i].process, "touches something else");
      }
      if (points_[at].ways_left != 0) {
        go(at, process, static_cast<Way>(way + 1));
      } else {
        go(at, points_[at].left.lowest(), 0);
      }
      return true;
    }
    return false;
  }

  Program& program_;
  Options options_;
  std::uint32_t preemptions_;
  Tally tally_;
  Execution run_;
  std::vector<Point> points_;
  std::uint32_t used_ = 0;
  Footprint scratch_;
};

/// Runs the program again and again, each time led by `choose(enabled, step)`; of several ways a step goes any.
template <class Begin, class Choose>
Report run_often(Program& program, const Options& options, Listener* listener, SplitMix& numbers, Begin begin,
                 Choose choose) {
  Tally tally(options, listener);
  Execution run;
  do {
    program.restart();
    run.cut_to(0);
    begin();
    ProcessSet enabled = program.enabled();
    while (!enabled.empty() && !program.failed() && run.size() < options.max_steps) {
      const Process process = choose(enabled, run.size());
      const Way ways = program.branches() ? program.ways(process) : Way{1};
      take(program, run, process, ways == 1 ? Way{0} : static_cast<Way>(numbers.below(ways)));
      ++tally.report().steps;
      enabled = program.enabled();
    }
    (void)tally.end(program, run, !enabled.empty() && !program.failed());
  } while (!tally.is_enough());
  return tally.finish(false);
}

}  // namespace

Report explore_all(Program& program, const Options& options, std::uint32_t preemptions, Listener* listener) {
  return DepthFirst(program, options, preemptions, listener).run();
}

Report explore_random(Program& program, const Options& options, std::uint64_t seed, Listener* listener) {
  SplitMix numbers(seed);
  return run_often(
      program, options, listener, numbers, [] {},
      [&numbers](ProcessSet enabled, std::uint32_t /*step*/) { return nth(enabled, numbers.below(enabled.size())); });
}

Report explore_pct(Program& program, const Options& options, std::uint64_t seed, std::uint32_t depth,
                   Listener* listener) {
  CALM_REQUIRE(LAB_5, depth >= 1, depth);
  SplitMix numbers(seed);
  std::array<std::uint64_t, process_max> priorities{};
  std::vector<std::uint32_t> changes;
  std::uint32_t longest = 1;
  const auto begin = [&] {
    for (std::uint64_t& priority : priorities) priority = depth + numbers.below(UINT32_MAX);
    changes.clear();
    for (std::uint32_t i = 1; i < depth; ++i) changes.push_back(static_cast<std::uint32_t>(numbers.below(longest)));
  };
  const auto choose = [&](ProcessSet enabled, std::uint32_t step) {
    longest = std::max(longest, step + 1);
    const auto highest = [&] {
      Process best = enabled.lowest();
      for (std::uint64_t left = enabled.bits(); left != 0; left &= left - 1) {
        const auto process = static_cast<Process>(std::countr_zero(left));
        if (priorities[process] > priorities[best]) best = process;
      }
      return best;
    };
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (changes[i] == step) priorities[highest()] = i;  // below all others, and below earlier ones that fell
    }
    return highest();
  };
  return run_often(program, options, listener, numbers, begin, choose);
}

std::optional<Shortest> fewest_preemptions(Program& program, const Options& options, std::uint32_t most) {
  Options first = options;
  first.stop_at_first_problem = true;
  for (std::uint32_t preemptions = 0; preemptions <= most; ++preemptions) {
    Report report = explore_all(program, first, preemptions);
    if (!report.ok()) return Shortest{std::move(report.failures.front()), preemptions};
    if (!report.exhausted) return std::nullopt;
  }
  return std::nullopt;
}

std::uint32_t count_preemptions(Program& program, const std::vector<Process>& schedule, const std::vector<Way>& ways) {
  program.restart();
  std::uint32_t count = 0;
  Footprint touched;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    if (i > 0 && schedule[i] != schedule[i - 1] && program.enabled().has(schedule[i - 1])) ++count;
    touched.clear();
    (void)take_step(program, schedule[i], i < ways.size() ? ways[i] : Way{0}, touched);
  }
  return count;
}

}  // namespace calm::explore
