#include "specs.hpp"

#include <array>
#include <iterator>
#include <string_view>

#include "calm/kernel/task_record.hpp"

namespace calm::reference {
namespace {

constexpr std::string_view messages[] = {"", "", "a", "b"};

/// A story at the limit of 16 levels: the next level drops its root (CAN-2).
const Reason& long_story() {
  static const Reason story = [] {
    Reason reason;
    for (std::size_t level = 0; level < chain_level_max; ++level) {
      reason = Reason({.kind = CancelKind::user, .at = Time::at_ns(level), .cause = &reason});
    }
    return reason;
  }();
  return story;
}

const std::exception_ptr& exception_of(std::uint16_t choice) {
  static const std::array<std::exception_ptr, 3> exceptions = {std::make_exception_ptr(PanicError("first")),
                                                               std::make_exception_ptr(PanicError("second")),
                                                               std::make_exception_ptr(PanicError("third"))};
  return exceptions[choice % exceptions.size()];
}

Errc error_of(std::uint16_t choice) {
  static constexpr Errc errors[] = {Errc::full, Errc::empty, Errc::lagged, Errc::io, Errc::conflict};
  return errors[choice % std::size(errors)];
}

}  // namespace

kernel::Config config_of(const Setup& setup) {
  using kernel::LeakPolicy;
  kernel::Config config;
  config.trace_capacity = setup.trace == 0 ? 64 : std::uint64_t{1} << 16U;
  config.ceilings = {.regions = 4096, .tasks = 4096, .obligations = 4096};
  if (setup.ceilings == 6) config.ceilings.tasks = 8;
  if (setup.ceilings == 7) config.ceilings = {.regions = 4, .tasks = 16, .obligations = 3};
  static constexpr kernel::LeakResponse leaks[] = {
      {},
      {.policy = LeakPolicy::recover},
      {.policy = LeakPolicy::panic},
      {.policy = LeakPolicy::log, .threshold = 2, .then = LeakPolicy::panic},
      {.policy = LeakPolicy::recover, .threshold = 3, .then = LeakPolicy::log},
  };
  config.leaks = leaks[setup.leaks % std::size(leaks)];
  config.strict_tokens = setup.tokens == 3;
  if (setup.root == 4) config.root_limits.tasks = 3;
  if (setup.root == 5) config.root_limits.regions = 2;
  if (setup.root == 6) config.root_budget = {.deadline = Time::at_ns(3'000'000'000), .priority = 7};
  if (setup.root == 7) config.root_limits = {.obligations = 2, .heap_bytes = 100};
  return config;
}

Budget budget_of(std::uint16_t choice, Time now) {
  Budget budget;
  static constexpr std::uint64_t few[] = {0, 1, 2, 5};
  static constexpr std::int64_t milliseconds[] = {0, 1, 100, 10'000};
  if (choice % 4 == 1) budget.polls = Quota(few[choice / 4 % 4]);
  if (choice % 4 == 2) budget.cost = Quota(few[choice / 4 % 4]);
  if (choice % 16 == 3) budget.deadline = now + Duration::milliseconds(milliseconds[choice / 16 % 4]);
  if (choice % 5 == 4) budget.priority = static_cast<std::uint8_t>(choice / 5);
  return budget;
}

kernel::RegionSpec region_spec(std::uint16_t c, std::uint16_t d, Time now) {
  kernel::RegionSpec spec;
  spec.budget = budget_of(d, now);
  if (d % 7 == 1) spec.limits.tasks = d / 7 % 3;
  if (d % 7 == 2) spec.limits.regions = d / 7 % 2;
  if (d % 7 == 3) spec.limits.obligations = d / 7 % 3;
  if (d % 7 == 4) spec.limits.heap_bytes = 40U + d / 7 % 3 * 40U;
  static constexpr FoldPolicy policies[] = {FoldPolicy::fail_fast, FoldPolicy::fail_fast, FoldPolicy::collect,
                                            FoldPolicy::supervised};
  spec.policy = policies[c % 4];
  if (c / 4 % 4 == 0) spec.cleanup_mode = kernel::CleanupMode::soft;
  if (c / 16 % 4 == 0) spec.escalation = kernel::Escalation::panic;
  if (c / 64 % 4 == 0) spec.cleanup_time = Duration::milliseconds(c / 256 % 2 == 0 ? 10 : 20'000);
  if (c / 512 % 4 == 0) spec.reports_to = kernel::ReportsTo::owner;
  spec.body = c / 2048 % 3 == 0;
  return spec;
}

Duration step_of(std::uint16_t choice) {
  static constexpr std::int64_t microseconds[] = {1, 1'000, 1'000, 20'000, 20'000, 500'000, 6'000'000, 40'000'000};
  return Duration::microseconds(microseconds[choice % std::size(microseconds)]);
}

ObligationKind kind_of(std::uint16_t choice) { return obligation_kind_table[choice % obligation_kind_count].kind; }

ObligationKind counted_kind_of(std::uint16_t choice) {
  return choice % 8 == 0 ? kind_of(choice / 8) : kernel::counted_kinds[choice / 8 % kernel::counted_kind_count];
}

kernel::CancelSpec cancel_spec(std::uint16_t c, std::uint16_t d) {
  return {.kind = cancel_kind_table[c % cancel_kind_count].kind,
          .message = messages[d % std::size(messages)],
          .cause = d / 4 % 16 == 0 ? &long_story() : nullptr};
}

ChildEnd end_of(std::uint16_t c, std::uint16_t d, const Reason& own, ChildOrigin origin, Time now) {
  const auto make = [&]() -> ChildEnd {
    switch (c % 8) {
      case 0:
      case 1:
      case 2:
        return ok();
      case 3:
        return err(error_of(d));
      case 4:
        return panicked(exception_of(d));
      default:
        if (c % 8 < 7 && own) return cancelled(own);
        return cancelled(Reason({.kind = cancel_kind_table[d % cancel_kind_count].kind,
                                 .region = d / 16 % 4 == 0 ? RegionId() : origin.region,
                                 .task = d / 64 % 4 == 0 ? TaskId() : origin.task,
                                 .at = now,
                                 .message = messages[d / 256 % std::size(messages)]}));
    }
  };
  ChildEnd end = make();
  if (c / 8 % 8 == 0) end.add_note(Note(OutcomeKind::err, d % 2 == 0 ? "even" : "odd"));
  return end;
}

}  // namespace calm::reference
