#include "calm/explore/optimal.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/explore/not_deterministic.hpp"
#include "calm/explore/reversal.hpp"
#include "calm/explore/saved.hpp"
#include "calm/explore/tally.hpp"
#include "calm/explore/wakeup_tree.hpp"

namespace calm::explore {
namespace {

/// With which earlier event, and how much of the execution it took to see that its reversal is led to already.
struct Race {
  std::uint32_t with = 0;
  Settled settled = never_settled;  // as long as so many events stay what they are there is nothing to try
};

/// A point of the execution, before its i-th event.
struct Point {
  std::vector<Foreseen>
      tried;  // next steps that need not be taken here: inherited ones, then those of finished branches
  WakeupNode* pending = nullptr;  // what is still to be taken, in order
  std::vector<Race> races;        // of the event taken here, with the latest first
  ProcessSet enabled;             // who could run here
  std::uint64_t began = 0;        // executions before the first branch, and before this one
  std::uint64_t branch_began = 0;
  std::uint32_t finished = 0;  // branches
};

constexpr std::uint64_t estimate_every = 1024;  // executions
constexpr const char* does_something_else = "touches something else when it is run again";

class Optimal {
 public:
  Optimal(Program& program, const Options& options, Listener* listener)
      : program_(program), options_(options), tally_(options, listener), listener_(listener), points_(1) {}

  /// `from`: where to go on; `to`: what is left when it is stopped. Either may be none.
  Report run(const Saved* from, Saved* to) {
    program_.restart();
    if (from != nullptr) {
      restore(*from);
      if (!go_back()) return tally_.finish(true);
    }
    do {
      go_forward();
      ask_blocked(tally_.end(program_, run_, livelock_));
      const bool enough = tally_.is_enough();
      if (enough && to == nullptr) return tally_.finish(false);
      reverse_races();
      if (enough) {
        save(*to);
        return tally_.finish(false);
      }
      if (listener_ != nullptr && tally_.report().executions % estimate_every == 0) listener_->expects(estimate());
    } while (go_back());
    return tally_.finish(true);
  }

 private:
  // --- stopping and going on ---

  void save(Saved& saved) {
    saved.report = tally_.report();
    saved.fingerprints = tally_.fingerprints();
    saved.points.clear();
    for (std::uint32_t i = 0; i < run_.size(); ++i) {
      saved.points.push_back({foreseen(i), points_[i].tried, list(pool_, points_[i].pending)});
    }
  }

  void restore(const Saved& saved) {
    tally_.restore(saved.report, saved.fingerprints);
    for (const SavedPoint& point : saved.points) {
      const std::uint32_t at = run_.size();
      const ProcessSet enabled = program_.enabled();
      if (!enabled.has(point.taken.process)) throw NotDeterministic(run_, point.taken.process, "cannot run");
      points_.resize(std::size_t{at} + 2);
      Event& event = run_.next();
      event.process = point.taken.process;
      event.way = point.taken.way;
      event.ways = program_.branches() ? program_.ways(event.process) : Way{1};
      event.kind = explore::take_step(program_, event.process, event.way, event.touched);
      if (!(event.touched == point.taken.touched))
        throw NotDeterministic(run_, event.process, "touches something else");
      run_.finish();
      points_[at].enabled = enabled;
      points_[at].tried = point.tried;
      points_[at].pending = plant(pool_, point.pending);
      points_[at].began = at == 0 ? 0 : tally_.report().executions;
      points_[at].branch_began = tally_.report().executions;
      points_[at].finished = at == 0 ? static_cast<std::uint32_t>(point.tried.size()) : 0;
      find_races(at);
    }
  }

  /// Gives: how many executions there will be, as far as can be seen from here: at each point of this execution the branches
  /// that are still to come are taken to be as large as those before.
  [[nodiscard]] double estimate() const {
    double below = 1;
    for (std::uint32_t i = run_.size(); i-- > 0;) {
      const Point& point = points_[i];
      double pending = 0;
      for (const WakeupNode* node = point.pending; node != nullptr; node = node->next_sibling) ++pending;
      const double seen = static_cast<double>(point.branch_began - point.began) + below;
      below = seen + pending * seen / (1.0 + point.finished);
    }
    return below;
  }

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
    here.enabled = enabled;
    WakeupNode* const branch = here.pending;
    CALM_INVARIANT(LAB_5, branch != nullptr || here.tried.empty(), at);  // or this run would come to nothing new
    Event& event = run_.next();
    event.process = branch != nullptr ? branch->process : choose(enabled);
    event.way = branch != nullptr ? branch->way : Way{0};
    if (!enabled.has(event.process)) throw NotDeterministic(run_, event.process, "cannot run");
    event.ways = program_.branches() ? program_.ways(event.process) : Way{1};
    event.kind = explore::take_step(program_, event.process, event.way, event.touched);
    if (branch != nullptr && !(pool_.touched(*branch) == event.touched)) {
      throw NotDeterministic(run_, event.process, "touches something else");
    }
    run_.finish();
    ++tally_.report().steps;
    Point& there = points_[std::size_t{at} + 1];
    there.tried.clear();
    for (const Foreseen& tried : here.tried) {
      if (!tried.touched.conflicts(event.touched) && tried.process != event.process) there.tried.push_back(tried);
    }
    there.pending = nullptr;
    there.began = there.branch_began = tally_.report().executions;
    there.finished = 0;
    if (branch != nullptr) {
      here.pending = branch->next_sibling;
      there.pending = std::exchange(branch->first_child, nullptr);
      pool_.give_back(branch);
    }
    find_races(at);
    if (event.ways > 1) try_other_ways(at);
  }

  /// What a step touches is the same whichever way it goes, so only the way tells the branches apart.
  void try_other_ways(std::uint32_t at) {
    for (Way way = 0; way < run_[at].ways; ++way) {
      if (way == run_[at].way) continue;
      sequence_.assign(1, foreseen(at));
      sequence_.back().way = way;
      (void)insert_at(at);
    }
  }

  /// Goes on with whoever ran last, so that executions have few switches.
  [[nodiscard]] Process choose(ProcessSet enabled) const noexcept {
    if (run_.size() != 0 && enabled.has(run_[run_.size() - 1].process)) return run_[run_.size() - 1].process;
    return enabled.lowest();
  }

  /// Leads the program to the point after the first `size` events.
  void replay(std::uint32_t size) {
    program_.restart();
    const std::uint32_t repeated = program_.repeat(run_, size);
    tally_.report().replayed += repeated;
    if (repeated != size) throw NotDeterministic(run_, run_[repeated].process, does_something_else);
  }
  void repeat(Process process, Way way, const Footprint& expected) {
    scratch_.clear();
    (void)explore::take_step(program_, process, way, scratch_);
    if (!(scratch_ == expected)) throw NotDeterministic(run_, process, does_something_else);
    ++tally_.report().replayed;
  }

  /// To the last point with something left to try. Gives: false when there is none.
  bool go_back() {
    while (run_.size() != 0) {
      const std::uint32_t at = run_.size() - 1;
      Point& point = points_[at];
      point.tried.push_back(foreseen(at));
      run_.cut_to(at);
      unchanged_ = at;
      ++point.finished;
      point.branch_began = tally_.report().executions;
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
    std::vector<Race>& races = points_[at].races;
    races.clear();
    if (event.kind == StepKind::last) return;
    if (event.kind == StepKind::fixed) {
      for (const std::uint32_t i : run_.joined()) races.push_back({i});
      return;
    }
    start_covered(event.previous);
    conflicts_before(at, event.process, event.touched, races);
  }
  void conflicts_before(std::uint32_t at, Process process, const Footprint& touched, std::vector<Race>& races) const {
    for (std::uint32_t i = at; i-- > 0;) {
      const Event& other = run_[i];
      if (other.kind == StepKind::last) return;
      if (other.process == process || covered_[other.process] >= other.number) continue;
      if (other.touched.conflicts(touched)) races.push_back({i});
    }
  }

  void start_covered(std::uint32_t previous) noexcept {
    if (previous == 0) {
      covered_.fill(0);
    } else {
      std::copy_n(run_.clock(previous - 1), run_.width(), covered_.begin());
    }
  }
  void cover(std::uint32_t i) noexcept {
    const std::uint16_t* const clock = run_.clock(i);
    for (std::uint32_t p = 0; p < run_.width(); ++p) covered_[p] = std::max(covered_[p], clock[p]);
  }

  void reverse_races() {
    Point* point = points_.data();
    for (std::uint32_t at = 0; at < run_.size(); ++at, ++point) {
      const Event& event = run_[at];
      if (event.kind == StepKind::fixed) {
        for (Race& race : point->races) {
          if (!is_settled(race)) try_first(race, at, event);
        }
      } else {
        reverse_free(event.process, event.previous, point->races, at,
                     event.kind == StepKind::woken ? &event.touched : nullptr);
      }
    }
    for (const Foreseen& step : blocked_) {
      races_of_blocked(step);
      reverse_free(step.process, run_.last_of(step.process), blocked_races_, run_.size(), nullptr);
    }
  }
  [[nodiscard]] bool is_settled(const Race& race) const noexcept { return race.settled <= unchanged_; }

  /// A blocked or idle process is in a race as if its step were the last one. Asked before the program is led elsewhere.
  void ask_blocked(ProcessSet blocked) {
    blocked_.clear();
    for (std::uint64_t left = blocked.bits() | program_.idle().bits(); left != 0; left &= left - 1) {
      blocked_.push_back({static_cast<Process>(std::countr_zero(left)), {}});
      program_.pending(blocked_.back().process, blocked_.back().touched);
    }
  }

  void races_of_blocked(const Foreseen& step) {
    blocked_races_.clear();
    start_covered(run_.last_of(step.process));
    conflicts_before(run_.size(), step.process, step.touched, blocked_races_);
  }

  /// A free step is tried before each event it conflicts with, from the latest on; only where it can run does that event hide
  /// what happens before it. `woken` is what a step touches that somebody must have enabled, else none.
  void reverse_free(Process process, std::uint32_t previous, std::vector<Race>& races, std::uint32_t at,
                    const Footprint* woken) {
    if (races.empty()) return;
    start_covered(previous);
    for (Race& race : races) {
      const Event& other = run_[race.with];
      const bool settled = is_settled(race);
      // Asked or not: with the next execution the same events may stay what they are now, and not what they were.
      if (!settled) race.settled = never_settled;
      if (covered_[other.process] >= other.number) continue;
      if (woken != nullptr && !has_waker(race.with, at, previous, *woken)) continue;
      if (settled || try_free(race, process)) cover(race.with);
    }
  }

  /// Gives: true when somebody can have enabled the step without event i and all that happens after it.
  [[nodiscard]] bool has_waker(std::uint32_t i, std::uint32_t at, std::uint32_t previous,
                               const Footprint& touched) const noexcept {
    for (std::uint32_t k = previous; k < at; ++k) {
      if ((k < i || !run_.happens_before(i, k)) && run_[k].touched.conflicts(touched)) return true;
    }
    return false;
  }

  /// Gives: true when a step that was tried at that point leads to the reversal. Of a free step nothing is known but its
  /// process (`unknown`): then it must be another one that leads there, whatever the step will touch.
  bool is_led_to(Race& race, const Process* unknown) {
    for (const Foreseen& tried : points_[race.with].tried) {
      if (unknown != nullptr && (tried.process == *unknown || reversal_.first_of(tried.process) == reversal_.size())) {
        continue;
      }
      const Reversal::Answer answer = reversal_.is_weak_initial(tried.process, tried.way, tried.touched);
      if (!answer.yes) continue;
      race.settled = answer.settled;
      return true;
    }
    return false;
  }

  void try_first(Race& race, std::uint32_t at, const Event& later) {
    race.settled = never_settled;
    reversal_.collect(run_, race.with, at);
    if (program_.branches()) {
      reversal_.copy_to(sequence_);
      if (insert_at(race.with) == Insertion::covered_this_way) (void)try_free(race, later.process);
    } else if (!is_led_to(race, nullptr)) {
      put_in_tree(race);
    }
  }

  /// Gives: true when the step can run at that place.
  bool try_free(Race& race, Process process) {
    race.settled = never_settled;
    reversal_.collect(run_, race.with);
    if (reversal_.size() == 0) {  // the execution was at that very place
      const Point& there = points_[race.with];
      if (!there.enabled.has(process)) return false;
      if (!program_.branches() && is_begun(there, process)) return true;
    }
    if (is_led_to(race, &process)) return true;
    replay(race.with);
    for (std::size_t k = 0; k < reversal_.size(); ++k) {
      repeat(reversal_[k].process, reversal_[k].way, reversal_[k].touched);
    }
    if (!program_.enabled().has(process)) return false;
    const Way ways = program_.branches() ? program_.ways(process) : Way{1};
    scratch_.clear();
    (void)program_.step(process, scratch_);
    ++tally_.report().replayed;
    reversal_.append(process, scratch_, ways);
    if (program_.branches()) {
      put_each_way(race.with, ways);
    } else if (!is_led_to(race, nullptr)) {
      put_in_tree(race);
    }
    race.settled = never_settled;  // what it touches there may depend on everything
    return true;
  }

  /// Gives: true when the next step of the process has been tried at that point, or is going to be.
  [[nodiscard]] static bool is_begun(const Point& point, Process process) noexcept {
    for (const Foreseen& tried : point.tried) {
      if (tried.process == process) return true;
    }
    for (const WakeupNode* node = point.pending; node != nullptr; node = node->next_sibling) {
      if (node->process == process) return true;
    }
    return false;
  }

  /// One way of its last step may have been tried at that point, and another not.
  void put_each_way(std::uint32_t i, Way ways) {
    for (Way way = 0; way < ways; ++way) {
      reversal_.set_last_way(way);
      reversal_.copy_to(sequence_);
      (void)insert_at(i);
    }
  }

  /// Gives: true when a branch of the tree, which only grows while event `with` stays, leads to the reversal.
  bool is_foreseen(Race& race) {
    Settled settled = 0;
    for (const WakeupNode* node = points_[race.with].pending; node != nullptr;) {
      const Reversal::Answer answer = reversal_.is_weak_initial(node->process, node->way, pool_.touched(*node));
      settled = std::max(settled, answer.settled);
      if (!answer.yes) {
        node = node->next_sibling;
      } else if (node->first_child == nullptr) {  // everything from there on is going to be explored
        race.settled = settled;
        return true;
      } else {
        reversal_.drop_first_of(node->process);
        node = node->first_child;
      }
    }
    reversal_.take_back();
    return false;
  }

  void put_in_tree(Race& race) {
    if (is_foreseen(race)) return;
    reversal_.copy_to(sequence_);
    (void)insert_at(race.with);
  }
  Insertion insert_at(std::uint32_t i) {
    tried_ = points_[i].tried;
    tried_.push_back(foreseen(i));
    return insert(pool_, points_[i].pending, sequence_, tried_);
  }
  [[nodiscard]] Foreseen foreseen(std::uint32_t i) const {
    return {run_[i].process, run_[i].touched, run_[i].way, run_[i].ways};
  }

  Program& program_;
  Options options_;
  Tally tally_;
  Listener* listener_;
  Execution run_;
  std::vector<Point> points_;
  WakeupPool pool_;
  std::uint32_t unchanged_ = 0;  // so many events are those of the execution before
  bool livelock_ = false;

  // Scratch memory of the functions above.
  Footprint scratch_;
  std::vector<Foreseen> blocked_;
  std::vector<Race> blocked_races_;
  Reversal reversal_;
  std::vector<Foreseen> sequence_;
  std::vector<Foreseen> tried_;
  std::array<std::uint16_t, process_max> covered_{};
};

}  // namespace

Report explore_optimal(Program& program, const Options& options, Listener* listener) {
  return Optimal(program, options, listener).run(nullptr, nullptr);
}

Report explore_optimal(Program& program, const Options& options, Listener* listener, const Saved* from, Saved& to) {
  return Optimal(program, options, listener).run(from, &to);
}

}  // namespace calm::explore
