#include "calm/sched/governor.hpp"

#include <algorithm>

#include "calm/check/require.hpp"

namespace calm::sched {
namespace {

constexpr std::uint64_t per_obligation = 4;
constexpr std::uint64_t per_finalizer = 8;
constexpr std::uint64_t worth_changing = 64;  // a candidate must be better by a 64th

/// Sums and products that stop at the largest number: an outlook may say anything.
constexpr std::uint64_t plus(std::uint64_t a, std::uint64_t b) noexcept {
  return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
constexpr std::uint64_t times(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

constexpr std::uint64_t urgency(std::uint64_t slack_ns) noexcept {
  constexpr std::uint64_t ms = 1'000'000;
  if (slack_ns == 0) return 64;
  if (slack_ns < ms) return 32;
  if (slack_ns < 10 * ms) return 16;
  return slack_ns < 100 * ms ? 4 : 1;
}

/// The numbers of an outlook on their way through some dispatches.
class Walk {
 public:
  explicit Walk(const Outlook& outlook) noexcept
      : cancel_(outlook.runnable_cancel),
        timed_(outlook.runnable_timed),
        ready_(outlook.runnable_ready),
        urgency_(urgency(outlook.slack_ns)),
        now_(potential_of(outlook)) {}

  /// Gives: the sum of the potentials along the horizon, under a suggestion.
  [[nodiscard]] std::uint64_t sum(Suggestion suggestion) noexcept {
    const SuggestionRow& row = describe(suggestion);
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < horizon; ++i) {
      step(row);
      sum = plus(sum, now_.total());
    }
    return sum;
  }

 private:
  void step(const SuggestionRow& row) noexcept {
    if (cancel_ != 0 && timed_ != 0 && timed_streak_ < row.timed_limit) return run_timed();
    if (cancel_ != 0 && (cancel_streak_ < row.cancel_limit || timed_ + ready_ == 0)) return run_cancel();
    if (timed_ != 0) return run_timed();
    cancel_streak_ = timed_streak_ = 0;
    if (ready_ != 0) --ready_;
  }
  void run_cancel() noexcept {
    now_.tasks -= std::min<std::uint64_t>(now_.tasks, 1);
    now_.obligations -= now_.obligations / cancel_;  // the last one has all that is left
    now_.finalizers -= now_.finalizers / cancel_;
    --cancel_;
    ++cancel_streak_;
    timed_streak_ = 0;
  }
  void run_timed() noexcept {
    now_.deadlines -= std::min(now_.deadlines, urgency_);
    --timed_;
    ++timed_streak_;
    cancel_streak_ = 0;
  }

  std::uint64_t cancel_;
  std::uint64_t timed_;
  std::uint64_t ready_;
  std::uint64_t urgency_;
  std::uint32_t cancel_streak_ = 0;
  std::uint32_t timed_streak_ = 0;
  Potential now_;
};

/// Suggests one thing, when that can change anything.
class OneSuggestion final : public Governor {
 public:
  explicit constexpr OneSuggestion(Suggestion suggestion) noexcept : suggestion_(suggestion) {}

  [[nodiscard]] std::string_view name() const noexcept override { return to_string(suggestion_); }
  [[nodiscard]] Decision decide(const Outlook& outlook) const noexcept override {
    const bool applies = is_applicable(outlook);
    return {.suggestion = applies ? suggestion_ : Suggestion::none,
            .constraint = applies ? Constraint::by_name : Constraint::not_applicable,
            .potential = potential_of(outlook)};
  }

 private:
  [[nodiscard]] bool is_applicable(const Outlook& outlook) const noexcept {
    switch (suggestion_) {
      case Suggestion::none:
        return true;
      case Suggestion::meet_deadlines:
        return outlook.runnable_timed != 0;
      case Suggestion::drain_obligations:
        return outlook.obligations != 0 && outlook.runnable_cancel != 0;
      case Suggestion::drain_regions:
        return outlook.closing_regions != 0 && outlook.runnable_cancel != 0;
    }
    CALM_INVARIANT(SCH_3, false, static_cast<std::uint8_t>(suggestion_));
    return false;
  }

  Suggestion suggestion_;
};

class Lyapunov final : public Governor {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "lyapunov"; }
  [[nodiscard]] Decision decide(const Outlook& outlook) const noexcept override {
    Decision decision{.constraint = Constraint::one_lane, .potential = potential_of(outlook)};
    const bool others = outlook.runnable_timed != 0 || outlook.runnable_ready != 0;
    if (outlook.runnable_cancel == 0 || !others) return decision;  // suggestions only say when cancel work goes

    decision.compared = true;
    for (const SuggestionRow& row : suggestion_table) {
      decision.candidates[static_cast<std::uint8_t>(row.suggestion)] = Walk(outlook).sum(row.suggestion);
    }
    const std::uint64_t none = decision.candidates[0];
    const Suggestion best = best_of(decision);
    const std::uint64_t least = decision.candidates[static_cast<std::uint8_t>(best)];
    const bool enough = none - least >= std::max<std::uint64_t>(none / worth_changing, 1);
    decision.constraint = enough ? Constraint::potential : Constraint::too_little;
    if (enough) decision.suggestion = best;
    return decision;
  }

 private:
  /// The two that drain order work alike: which of them it is says what there is more of.
  static Suggestion best_of(const Decision& decision) noexcept {
    Suggestion best = Suggestion::none;
    for (const SuggestionRow& row : suggestion_table) {
      const auto figure = [&decision](Suggestion one) { return decision.candidates[static_cast<std::uint8_t>(one)]; };
      if (figure(row.suggestion) < figure(best)) best = row.suggestion;
    }
    const Potential& now = decision.potential;
    if (best == Suggestion::drain_obligations && now.obligations < plus(now.finalizers, now.tasks)) {
      best = Suggestion::drain_regions;
    }
    return best;
  }
};

constexpr OneSuggestion none_governor(Suggestion::none);
constexpr OneSuggestion meet_deadlines_governor(Suggestion::meet_deadlines);
constexpr OneSuggestion drain_obligations_governor(Suggestion::drain_obligations);
constexpr OneSuggestion drain_regions_governor(Suggestion::drain_regions);
constexpr Lyapunov lyapunov_governor;

constexpr const Governor* all_governors[] = {&none_governor, &meet_deadlines_governor, &drain_obligations_governor,
                                             &drain_regions_governor, &lyapunov_governor};

}  // namespace

std::uint64_t Potential::total() const noexcept { return plus(plus(tasks, obligations), plus(finalizers, deadlines)); }

Potential potential_of(const Outlook& outlook) noexcept {
  return {.tasks = outlook.live_tasks,
          .obligations = plus(times(outlook.obligations, per_obligation), outlook.obligation_age_ms),
          .finalizers = times(outlook.finalizers, per_finalizer),
          .deadlines = times(outlook.runnable_timed, urgency(outlook.slack_ns))};
}

std::string_view to_string(Constraint constraint) noexcept {
  switch (constraint) {
    case Constraint::by_name:
      return "by name";
    case Constraint::not_applicable:
      return "not applicable";
    case Constraint::one_lane:
      return "one lane";
    case Constraint::too_little:
      return "too little to gain";
    case Constraint::potential:
      return "least potential";
  }
  CALM_INVARIANT(SCH_3, false, static_cast<std::uint8_t>(constraint));
  return {};
}

std::string to_string(const Decision& decision) {
  std::string text(to_string(decision.suggestion));
  text += " (";
  text += to_string(decision.constraint);
  text += "): tasks " + std::to_string(decision.potential.tasks);
  text += ", obligations " + std::to_string(decision.potential.obligations);
  text += ", finalizers " + std::to_string(decision.potential.finalizers);
  text += ", deadlines " + std::to_string(decision.potential.deadlines);
  if (!decision.compared) return text;
  const char* before = "; ";
  for (const SuggestionRow& row : suggestion_table) {
    text += before;
    text += row.name;
    text += ' ' + std::to_string(decision.candidates[static_cast<std::uint8_t>(row.suggestion)]);
    before = ", ";
  }
  return text;
}

std::span<const Governor* const> governors() noexcept { return all_governors; }

const Governor* find_governor(std::string_view name) noexcept {
  const auto* const at = std::find_if(std::begin(all_governors), std::end(all_governors),
                                      [name](const Governor* one) { return one->name() == name; });
  return at == std::end(all_governors) ? nullptr : *at;
}

}  // namespace calm::sched
