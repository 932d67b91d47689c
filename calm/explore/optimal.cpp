#include "calm/explore/optimal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/tally.hpp"
#include "calm/explore/wakeup_tree.hpp"

namespace calm::explore {
namespace {

/// A point of the execution, before its i-th event.
struct Point {
  std::vector<Foreseen>
      tried;  // next steps that need not be taken here: inherited ones, then those of finished branches
  WakeupNode* pending = nullptr;     // what is still to be taken, in order
  std::vector<std::uint32_t> races;  // of the event taken here: with which earlier ones, latest first
};

class Optimal {
 public:
  Optimal(Program& program, const Options& options, Listener* listener)
      : program_(program), options_(options), tally_(options, listener), points_(1) {}

  Report run() {
    program_.restart();
    do {
      go_forward();
      ask_blocked(tally_.end(program_, run_, livelock_));
      if (tally_.is_enough()) return tally_.finish(false);
      reverse_races();
    } while (go_back());
    return tally_.finish(true);
  }

 private:
  // --- running ---

  void go_forward() {
    livelock_ = false;
    while (!program_.failed()) {
      const ProcessSet enabled = program_.enabled();
      if (enabled.empty()) return;
      if (run_.size() >= options_.max_steps) {
        livelock_ = true;
        return;
      }
      take_step(enabled);
    }
  }

  void take_step(ProcessSet enabled) {
    const std::uint32_t at = run_.size();
    if (points_.size() < std::size_t{at} + 2) points_.resize(std::size_t{at} + 2);
    Point& here = points_[at];
    WakeupNode* const branch = here.pending;
    CALM_INVARIANT(LAB_5, branch != nullptr || here.tried.empty(), at);  // or this run would come to nothing new
    Event& event = run_.next();
    event.process = branch != nullptr ? branch->step.process : choose(enabled);
    if (!enabled.has(event.process)) throw NotDeterministic(run_, event.process, "cannot run");
    event.kind = program_.step(event.process, event.touched);
    if (branch != nullptr && !(branch->step.touched == event.touched)) {
      throw NotDeterministic(run_, event.process, "touches something else");
    }
    run_.finish();
    ++tally_.report().steps;
    Point& there = points_[std::size_t{at} + 1];
    there.tried.clear();
    for (const Foreseen& tried : here.tried) {
      if (!tried.touched.conflicts(event.touched)) there.tried.push_back(tried);
    }
    there.pending = nullptr;
    if (branch != nullptr) {
      here.pending = branch->next_sibling;
      there.pending = std::exchange(branch->first_child, nullptr);
      pool_.give_back(branch);
    }
    find_races(at);
  }

  /// Goes on with whoever ran last, so that executions have few switches.
  [[nodiscard]] Process choose(ProcessSet enabled) const noexcept {
    if (run_.size() != 0 && enabled.has(run_[run_.size() - 1].process)) return run_[run_.size() - 1].process;
    return enabled.lowest();
  }

  /// Leads the program to the point after the first `size` events.
  void replay(std::uint32_t size) {
    program_.restart();
    for (std::uint32_t i = 0; i < size; ++i) repeat(run_[i].process, run_[i].touched);
  }
  void repeat(Process process, const Footprint& expected) {
    scratch_.clear();
    (void)program_.step(process, scratch_);
    if (!(scratch_ == expected)) throw NotDeterministic(run_, process, "touches something else when it is run again");
    ++tally_.report().replayed;
  }

  /// To the last point with something left to try. Gives: false when there is none.
  bool go_back() {
    while (run_.size() != 0) {
      const std::uint32_t at = run_.size() - 1;
      Point& point = points_[at];
      point.tried.push_back({run_[at].process, run_[at].touched});
      run_.cut_to(at);
      if (point.pending != nullptr) {
        replay(at);
        return true;
      }
    }
    return false;
  }

  // --- races ---

  /// Remembers with which earlier events the event at `at` is in a race. A fixed step is not in one with what happens before
  /// a later race of its own; of a free one that is known only when it is tried.
  void find_races(std::uint32_t at) {
    const Event& event = run_[at];
    std::vector<std::uint32_t>& races = points_[at].races;
    races.clear();
    start_covered(event.previous);
    for (std::uint32_t i = at; i-- > 0;) {
      const Event& other = run_[i];
      if (other.process == event.process || covered_[other.process] >= other.number) continue;
      if (!other.touched.conflicts(event.touched)) continue;
      races.push_back(i);
      if (event.kind == StepKind::fixed) cover(i);
    }
  }

  void start_covered(std::uint32_t previous) noexcept {
    if (previous == 0) {
      covered_.fill(0);
    } else {
      std::copy_n(run_.clock(previous - 1), process_max, covered_.begin());
    }
  }
  void cover(std::uint32_t i) noexcept {
    const std::uint16_t* const clock = run_.clock(i);
    for (std::uint32_t p = 0; p < run_.width(); ++p) covered_[p] = std::max(covered_[p], clock[p]);
  }

  void reverse_races() {
    for (std::uint32_t at = 0; at < run_.size(); ++at) {
      const Event& event = run_[at];
      if (event.kind == StepKind::fixed) {
        for (const std::uint32_t i : points_[at].races) try_first(i, at, {event.process, event.touched});
      } else {
        reverse_free(event.process, event.previous, points_[at].races, at);
      }
    }
    for (const Foreseen& step : blocked_) {
      races_of_blocked(step);
      reverse_free(step.process, run_.last_of(step.process), blocked_races_, run_.size());
    }
  }

  /// A blocked process is in a race as if its step were the last one. Asked before the program is led elsewhere.
  void ask_blocked(ProcessSet blocked) {
    blocked_.clear();
    for (std::uint64_t left = blocked.bits(); left != 0; left &= left - 1) {
      blocked_.push_back({static_cast<Process>(std::countr_zero(left)), {}});
      program_.pending(blocked_.back().process, blocked_.back().touched);
    }
  }

  void races_of_blocked(const Foreseen& step) {
    blocked_races_.clear();
    start_covered(run_.last_of(step.process));
    for (std::uint32_t i = run_.size(); i-- > 0;) {
      const Event& other = run_[i];
      if (other.process == step.process || covered_[other.process] >= other.number) continue;
      if (other.touched.conflicts(step.touched)) blocked_races_.push_back(i);
    }
  }

  /// A free step is tried before each event it conflicts with, from the latest on; only where it can run does that event hide
  /// what happens before it.
  void reverse_free(Process process, std::uint32_t previous, const std::vector<std::uint32_t>& races,
                    std::uint32_t at) {
    if (races.empty()) return;
    start_covered(previous);
    for (const std::uint32_t i : races) {
      const Event& other = run_[i];
      if (covered_[other.process] >= other.number) continue;
      if (try_free(i, at, process)) cover(i);
    }
  }

  /// The steps after event i, but for the one at `without`, that do not happen after it.
  void collect(std::uint32_t i, std::uint32_t without) {
    sequence_.clear();
    for (std::uint32_t k = i + 1; k < run_.size(); ++k) {
      if (k == without || run_.happens_before(i, k)) continue;
      sequence_.push_back({run_[k].process, run_[k].touched});
    }
  }

  void collect_tried(std::uint32_t i) {
    tried_ = points_[i].tried;
    tried_.push_back({run_[i].process, run_[i].touched});
  }

  void try_first(std::uint32_t i, std::uint32_t at, const Foreseen& later) {
    collect(i, at);
    sequence_.push_back(later);
    collect_tried(i);
    (void)insert(pool_, points_[i].pending, sequence_, tried_);
  }

  /// Gives: true when the step can run at that place.
  bool try_free(std::uint32_t i, std::uint32_t at, Process process) {
    collect(i, at);
    for (const Foreseen& tried : points_[i].tried) {
      // Whatever the step will touch there, this branch leads to it.
      if (tried.process != process && is_present(tried.process) &&
          is_weak_initial(tried.process, tried.touched, sequence_)) {
        return true;
      }
    }
    replay(i);
    for (const Foreseen& step : sequence_) repeat(step.process, step.touched);
    if (!program_.enabled().has(process)) return false;
    Foreseen later{process, {}};
    (void)program_.step(process, later.touched);
    ++tally_.report().replayed;
    sequence_.push_back(std::move(later));
    collect_tried(i);
    (void)insert(pool_, points_[i].pending, sequence_, tried_);
    return true;
  }

  [[nodiscard]] bool is_present(Process process) const noexcept {
    return std::any_of(sequence_.begin(), sequence_.end(),
                       [process](const Foreseen& step) { return step.process == process; });
  }

  Program& program_;
  Options options_;
  Tally tally_;
  Execution run_;
  std::vector<Point> points_;
  WakeupPool pool_;
  bool livelock_ = false;

  // Scratch memory of the functions above.
  Footprint scratch_;
  std::vector<Foreseen> blocked_;
  std::vector<std::uint32_t> blocked_races_;
  std::vector<Foreseen> sequence_;
  std::vector<Foreseen> tried_;
  std::array<std::uint16_t, process_max> covered_{};
};

}  // namespace

Report explore_optimal(Program& program, const Options& options, Listener* listener) {
  return Optimal(program, options, listener).run();
}

}  // namespace calm::explore
