// snapshot.hpp — the kernel's state at one moment, as plain values ordered by id, and its digest.
// Laws:    LAB-12 (state digest), SHD-2 (taken under B→A→C), QUI-1, OBS-4 (its data)
// Threads: a value
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calm/kernel/config.hpp"
#include "calm/lockfree/wake_state.hpp"
#include "calm/model/ledger.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"
#include "calm/model/witness.hpp"

namespace calm::kernel {

struct RegionView {
  RegionId id{};
  RegionId parent{};
  RegionState state = RegionState::open;
  std::uint64_t creation = 0;
  std::uint64_t children_made = 0;
  std::uint64_t live_tasks = 0;
  std::uint64_t live_regions = 0;
  std::uint64_t live_cleanup = 0;
  std::uint64_t waiting_finalizers = 0;
  bool body = false;
  bool handle = false;
  TaskId owner{};
  Budget budget{};
  FoldPolicy policy = FoldPolicy::fail_fast;
  Reason reason{};
  Epoch epoch{};
  Budget cleanup{};     ///< what the clean-up of its tasks may use, once it is cancelled
  ChildEnd end = ok();  ///< the fold so far, the region's outcome once Closed
  Ledger ledger{};      ///< recorded promises that are open
  std::uint64_t leaked = 0;
  std::uint64_t heap_bytes = 0;
};

/// A task that ended and whose handle is still held shows its id, state, outcome and `forced` only.
struct TaskView {
  TaskId id{};
  RegionId region{};
  TaskState state = TaskState::created;
  lockfree::WakeState wake = lockfree::WakeState::idle;
  std::uint64_t creation = 0;
  Budget left{};
  bool cleanup = false;
  bool started = false;
  bool forced = false;
  std::uint8_t mask_depth = 0;
  std::uint16_t cleanup_polls = 0;  ///< used since the request
  std::uint16_t cleanup_quota = 0;  ///< that clean-up may take
  Reason reason{};
  Epoch epoch{};
  std::optional<OutcomeKind> outcome{};
  std::uint16_t counted[3]{};  ///< open, in the order of counted_kinds
  std::uint32_t last_round = 0;
  Site await_site{};
  trace::ResourceId waits_for{};
  TaskId held_by{};              ///< who has what it waits for, where one has it: a lock
  std::string name{};            ///< for people, where the host says it
  std::optional<Time> polled{};  ///< when its last poll began, where the host says it
};

struct ObligationView {
  ObligationId id{};
  RegionId region{};
  ObligationKind kind = ObligationKind::custom;
  ObligationState state = ObligationState::reserved;
  Holder holder{};
  trace::ResourceId resource{};
  Time since{};
  Site site{};
};

struct Snapshot {
  Time now{};
  std::uint32_t round = 0;
  std::vector<RegionView> regions;          // by ascending id
  std::vector<TaskView> tasks;              // by ascending id
  std::vector<ObligationView> obligations;  // by ascending id
  std::uint64_t pending_timers = 0;         // as the host says
  std::uint64_t undrained_channels = 0;

  /// Gives: the record with this id, or nullptr. Needs: the order above.
  [[nodiscard]] const RegionView* find(RegionId id) const noexcept;
  [[nodiscard]] const TaskView* find(TaskId id) const noexcept;
  [[nodiscard]] const ObligationView* find(ObligationId id) const noexcept;

  /// Gives: the names from the root to the region, `r1/r4/r7`; with `?/` before them when the chain of parents does not
  ///        end at a root. A region that is not there is `?/r9`.
  [[nodiscard]] std::string path_of(RegionId region) const;
};

/// Gives: the state digest: XXH64 with seed 0 over the records by id, as 64-bit little-endian numbers. Addresses, source
///        sites, rounds, the time and what the host alone knows stay out (LAB-12); snapshot.cpp lists what enters.
std::uint64_t state_digest(const Snapshot& snapshot) noexcept;

}  // namespace calm::kernel
