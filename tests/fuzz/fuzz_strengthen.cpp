// Up to four reasons of any kind, time, message and cause: their chains keep the limits, strengthening keeps its laws.
#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/reason.hpp"
#include "tests/fuzz/bytes.hpp"

namespace calm::fuzz {
namespace {

constexpr std::size_t reason_count = 4;
using Reasons = std::array<Reason, reason_count>;

std::size_t chain_bytes(const Reason& reason) {
  std::size_t bytes = 0;
  for (const ReasonLevel& level : reason.levels()) bytes += chain_cost(level);
  return bytes;
}

bool same_level(const ReasonLevel& a, const ReasonLevel& b) {
  return a.kind == b.kind && a.severity == b.severity && a.region == b.region && a.task == b.task && a.at == b.at &&
         a.cleanup == b.cleanup && a.message == b.message;
}

/// Equal in everything there is to see; operator== asks the order that is being tested.
bool same(const Reason& a, const Reason& b) {
  if (!a || !b) return !a && !b;
  return a.truncated() == b.truncated() &&
         std::equal(a.levels().begin(), a.levels().end(), b.levels().begin(), b.levels().end(), same_level);
}

/// CAN-2: the limits, what was dropped is marked, and severity and clean-up count the whole chain.
void check_new(const Reason& reason, const ReasonSpec& spec) {
  const ReasonView levels = reason.levels();
  CALM_INVARIANT(CAN_2, levels.depth >= 1 && levels.depth <= chain_level_max, levels.depth);
  CALM_INVARIANT(CAN_2, chain_bytes(reason) <= chain_byte_max, chain_bytes(reason));
  CALM_INVARIANT(CAN_2, spec.message.starts_with(reason.message()), reason);
  CALM_INVARIANT(CAN_2, reason.truncated() || reason.message().size() == spec.message.size(), reason);
  CALM_INVARIANT(CAN_2, reason.severity() >= describe(spec.kind).severity, reason);
  CALM_INVARIANT(CAN_8, within(reason.cleanup(), cleanup_budget(spec.kind, spec.at, spec.cleanup_time)), reason);
  if (spec.cause == nullptr || !*spec.cause) return;

  const Reason& cause = *spec.cause;
  const ReasonView causes = cause.levels();
  CALM_INVARIANT(CAN_2, levels.depth <= causes.depth + 1, levels.depth, causes.depth);
  for (std::size_t i = 1; i < levels.depth; ++i) {
    CALM_INVARIANT(CAN_2, same_level(levels.levels[i], causes.levels[i - 1]), i, reason, cause);
  }
  CALM_INVARIANT(CAN_2, reason.truncated() || (levels.depth == causes.depth + 1 && !cause.truncated()), reason, cause);
  CALM_INVARIANT(CAN_5, reason.severity() >= cause.severity() && within(reason.cleanup(), cause.cleanup()), reason,
                 cause);
}

/// A new reason, caused by one of those before it if that is one, and told to regions below, up to the limit and beyond.
Reason some_reason(Bytes& bytes, const Reasons& before) {
  const std::string message = bytes.text(bytes.take<std::uint8_t>() % 4 == 0 ? 2 * chain_byte_max : 40);
  ReasonSpec spec{.kind = static_cast<CancelKind>(bytes.below(cancel_kind_count)),
                  .region = RegionId::from_bits(std::uint64_t{1} << 56 | bytes.below(3) << 32 | bytes.below(3)),
                  .task = TaskId::from_bits(std::uint64_t{2} << 56 | bytes.below(3) << 32 | bytes.below(3)),
                  .at = Time::at_ns(bytes.edge<std::uint64_t>() >> 1),
                  .message = message,
                  .cause = &before[bytes.below(reason_count)]};
  if (bytes.take<std::uint8_t>() % 2 == 0) spec.cleanup_time = Duration::nanoseconds(bytes.edge<std::int64_t>());
  Reason reason(spec);
  check_new(reason, spec);
  for (std::size_t more = bytes.below(chain_level_max + 4); more > 0; --more) {
    const ReasonSpec child = parent_cancelled(reason, spec.region, spec.at);
    Reason below(child);
    check_new(below, child);
    reason = std::move(below);
  }
  return reason;
}

/// The same story told anew, so that nobody else holds it; with the clean-up that its kinds give.
Reason retold(const Reason& reason) {
  const ReasonView levels = reason.levels();
  Reason copy;
  for (std::size_t i = levels.depth; i-- > 0;) {
    const ReasonLevel& level = levels.levels[i];
    copy = Reason({.kind = level.kind,
                   .region = level.region,
                   .task = level.task,
                   .at = level.at,
                   .message = level.message,
                   .cause = &copy});
  }
  return copy;
}

void check_pair(const Reason& a, const Reason& b) {
  const Reason both = strengthen(a, b);
  CALM_INVARIANT(CAN_4, same(both, strengthen(b, a)), a, b);
  CALM_INVARIANT(CAN_4, same(strengthen(a, a), a) && same(strengthen(a, {}), a) && same(strengthen({}, a), a), a);
  CALM_INVARIANT(CAN_4, same(strengthen(both, a), both) && same(strengthen(both, b), both), a, b);
  CALM_INVARIANT(CAN_4, (a == b) == same(a, b), a, b);
  if (!a || !b) return;

  CALM_INVARIANT(CAN_4, both.severity() == (a.severity() < b.severity() ? b : a).severity(), a, b, both);
  CALM_INVARIANT(CAN_4, both.cleanup() == meet(a.cleanup(), b.cleanup()), a, b, both);
  CALM_INVARIANT(CAN_4, compare_strength(a.levels(), b.levels()) == 0 <=> compare_strength(b.levels(), a.levels()), a,
                 b);
  CALM_INVARIANT(CAN_2, both.levels().depth <= chain_level_max && chain_bytes(both) <= chain_byte_max, both);
}

/// Reasons that nobody else holds are strengthened in place; that must make no difference.
void check_unshared(const Reason& a, const Reason& b) {
  if (!a || !b) return;
  const Reason held_a = retold(a);
  const Reason held_b = retold(b);
  CALM_INVARIANT(CAN_4, same(strengthen(retold(a), retold(b)), strengthen(held_a, held_b)), a, b);
  CALM_INVARIANT(CAN_4, same(held_a, retold(a)) && same(held_b, retold(b)), a, b);
}

void check(Bytes bytes) {
  Reasons reasons;
  const std::size_t count = 1 + bytes.below(reason_count);
  for (std::size_t i = 0; i < count; ++i) reasons[i] = some_reason(bytes, reasons);
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j <= i; ++j) check_pair(reasons[i], reasons[j]);
  }
  const auto& [a, b, c, d] = reasons;
  check_unshared(a, b);
  const Reason all = strengthen(strengthen(a, b), strengthen(c, d));
  CALM_INVARIANT(CAN_4, same(all, strengthen(strengthen(strengthen(d, b), a), c)), a, b, c, d);
  CALM_INVARIANT(CAN_4, same(all, strengthen(a, strengthen(b, strengthen(c, d)))), a, b, c, d);
  CALM_INVARIANT(OBS_3, !all.explain().empty(), all);
}

}  // namespace
}  // namespace calm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calm::fuzz::check(calm::fuzz::Bytes(data, size));
  return 0;
}
