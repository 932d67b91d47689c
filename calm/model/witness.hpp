// witness.hpp — the record a cancellation leaves behind, and the rule that each further one may only go forward.
// Laws:    CAN-10, CAN-11, CAN-3 (a request is sticky and idempotent)
// Threads: values; the kernel keeps the one counter of a runtime
// Cancel:  this is its proof
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/reason.hpp"

namespace calm {

/// How far a cancellation has come; the value is its rank.
enum class CancelPhase : std::uint8_t { requested = 0, cancelling = 1, finalizing = 2, completed = 3 };

constexpr std::string_view to_string(CancelPhase phase) noexcept {
  switch (phase) {
    case CancelPhase::requested:
      return "Requested";
    case CancelPhase::cancelling:
      return "Cancelling";
    case CancelPhase::finalizing:
      return "Finalizing";
    case CancelPhase::completed:
      return "Completed";
  }
  CALM_INVARIANT(CAN_10, false, static_cast<std::uint8_t>(phase));
  return {};
}

/// Number of a cancellation within its runtime; 0 means never cancelled (CAN-11).
struct Epoch {
  std::uint64_t value = 0;

  constexpr explicit operator bool() const noexcept { return value != 0; }
  friend constexpr bool operator==(Epoch, Epoch) noexcept = default;
  friend constexpr auto operator<=>(Epoch, Epoch) noexcept = default;
};

/// The counter epochs come from, one per runtime.
class EpochCounter {
 public:
  /// Gives: an epoch never given before, from 1 upward.
  constexpr Epoch next() noexcept {
    CALM_INVARIANT(CAN_11, last_ != UINT64_MAX);
    return {++last_};
  }
  [[nodiscard]] constexpr Epoch last() const noexcept { return {last_}; }

 private:
  std::uint64_t last_ = 0;
};

/// What a record knows of its own cancellation: nothing, or one epoch for ever and the strongest reason so far.
class CancelRecord {
 public:
  /// Gives: true for the first request, which takes an epoch; a later one only strengthens and gives false (CAN-4, CAN-11).
  /// Needs: a reason. Fails: std::bad_alloc as strengthen does; nothing has changed then.
  bool request(Reason reason, EpochCounter& epochs) {
    CALM_REQUIRE(CAN_3, bool(reason));
    if (epoch_) {
      reason_ = strengthen(reason_, std::move(reason));
      return false;
    }
    reason_ = std::move(reason);
    epoch_ = epochs.next();
    return true;
  }

  [[nodiscard]] bool requested() const noexcept { return bool(epoch_); }
  [[nodiscard]] Epoch epoch() const noexcept { return epoch_; }
  [[nodiscard]] const Reason& reason() const noexcept { return reason_; }

 private:
  Epoch epoch_;
  Reason reason_;
};

/// Says: this task, in this region, has come this far with this cancellation.
struct Witness {
  TaskId task{};
  RegionId region{};
  Epoch epoch{};
  CancelPhase phase = CancelPhase::requested;
  Reason reason{};
};

/// Gives: ok when `after` may follow `before`, skipping phases included; else the first of witness_task_mismatch,
/// witness_region_mismatch, witness_epoch_mismatch, witness_phase_regression, witness_reason_weakened (CAN-10).
/// Needs: both have a reason.
inline Status check_step(const Witness& before, const Witness& after) noexcept {
  if (before.task != after.task) return Errc::witness_task_mismatch;
  if (before.region != after.region) return Errc::witness_region_mismatch;
  if (before.epoch != after.epoch) return Errc::witness_epoch_mismatch;
  if (after.phase < before.phase) return Errc::witness_phase_regression;
  if (after.reason.severity() < before.reason.severity()) return Errc::witness_reason_weakened;
  return {};
}

/// Gives: one line, `t4 in r1 epoch 7 Cancelling: Timeout at 2s by r1`.
std::string to_string(Epoch epoch);
std::string to_string(const Witness& witness);

}  // namespace calm
