// config.hpp — what a kernel, a region, a task and an obligation are made with.
// Laws:    REG-8, CAN-8, OBL-5, PRF-1, SHD-1 (configuration is immutable after start)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <source_location>
#include <string_view>

#include "calm/model/budget.hpp"
#include "calm/model/fold.hpp"
#include "calm/model/id.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/reason.hpp"
#include "calm/trace/resource.hpp"
#include "calm/trace/ring.hpp"

namespace calm::kernel {

/// Where in the program something was made. The default names no place.
using Site = std::source_location;

/// Ceilings of one kernel: beyond them `resource_exhausted` (REG-7).
struct Ceilings {
  std::uint32_t regions = 1U << 20;
  std::uint32_t tasks = 1U << 24;
  std::uint32_t obligations = 1U << 22;

  friend constexpr bool operator==(const Ceilings&, const Ceilings&) noexcept = default;
};

/// Limits of one region: beyond them `admission_limit` (REG-8).
struct Limits {
  std::uint32_t tasks = UINT32_MAX;
  std::uint32_t regions = UINT32_MAX;
  std::uint32_t obligations = UINT32_MAX;  ///< those with a record; counted ones cost nothing worth a limit (OBL-2)
  std::uint64_t heap_bytes = UINT64_MAX;

  friend constexpr bool operator==(const Limits&, const Limits&) noexcept = default;
};

/// What becomes of a promise that a task forgot although it was not cancelled (OBL-5). Later is stricter.
enum class LeakPolicy : std::uint8_t {
  recover,  ///< Aborted
  log,      ///< Leaked, and reported (default)
  panic,    ///< Leaked, and reported as one that must fail the run
};

struct LeakResponse {
  LeakPolicy policy = LeakPolicy::log;
  std::uint64_t threshold = UINT64_MAX;  ///< from this leak on, the first being 1 …
  LeakPolicy then = LeakPolicy::panic;   ///< … this one applies
};

/// Caps of masks (CAN-12).
inline constexpr std::uint8_t mask_depth_max = 64;
inline constexpr std::uint16_t mask_polls_max = 1000;
/// Polls of one finalizer (REG-5).
inline constexpr std::uint64_t finalizer_polls = 1000;
/// Rounds without a poll after which a holder of obligations is suspect (OBL-7).
inline constexpr std::uint32_t futurelock_rounds = 1000;

struct Config {
  std::uint16_t workers = 1;
  Ceilings ceilings{};
  Limits root_limits{};
  Budget root_budget{};
  LeakResponse leaks{};
  bool strict_tokens = false;  ///< a dropped tracked token is a finding that must fail the run (OBL-4)
  std::uint64_t trace_capacity = std::uint64_t{1} << 12;  ///< events per worker, a power of two
  trace::WhenFull trace_when_full = trace::WhenFull::overwrite;
};

/// PRF-1: a profile sets limits and sizes, never meaning.
struct Profile {
  std::string_view name;
  Ceilings ceilings;
  std::uint64_t trace_capacity;
};
inline constexpr Profile profiles[] = {
    {"server", {.regions = 1U << 20, .tasks = 1U << 24, .obligations = 1U << 22}, std::uint64_t{1} << 16},
    {"embedded", {.regions = 1U << 12, .tasks = 1U << 16, .obligations = 1U << 14}, std::uint64_t{1} << 12},
    {"tiny", {.regions = 256, .tasks = 1024, .obligations = 512}, std::uint64_t{1} << 9},
};

/// Gives: the profile of this name, or nullptr.
constexpr const Profile* find_profile(std::string_view name) noexcept {
  for (const Profile& profile : profiles) {
    if (profile.name == name) return &profile;
  }
  return nullptr;
}

/// Gives: the configuration with the limits of the profile.
constexpr Config with_profile(Config config, const Profile& profile) noexcept {
  config.ceilings = profile.ceilings;
  config.trace_capacity = profile.trace_capacity;
  return config;
}

/// What happens when a clean-up budget is used up (CAN-8).
enum class CleanupMode : std::uint8_t {
  bounded,  ///< the frame is dropped and the task completed (default)
  soft,     ///< wait for ever
};
enum class Escalation : std::uint8_t {
  drop,   ///< ends as Cancelled, marked as forced (default)
  panic,  ///< ends as Panicked, marked as forced
};

/// Who is told how a region ended.
enum class ReportsTo : std::uint8_t {
  parent,  ///< it folds into the parent region as a child does (OUT-4, default)
  owner,   ///< the owner task asks for it and decides; the parent only waits for the region
};

struct RegionSpec {
  Budget budget{};  ///< asked for; what the parent has left bounds it (BUD-3)
  Limits limits{};
  FoldPolicy policy = FoldPolicy::fail_fast;
  CleanupMode cleanup_mode = CleanupMode::bounded;
  Escalation escalation = Escalation::drop;
  Duration cleanup_time = default_cleanup_time;
  ReportsTo reports_to = ReportsTo::parent;
  bool body = false;  ///< the region is not quiet before end_body()
  TaskId
      owner{};  ///< the task whose frame runs the body: woken by a cancel and at Closed; what it spawned borrows from it
};

struct TaskSpec {
  Budget budget{};          ///< asked for; what region and spawner have left bounds it (BUD-3)
  TaskId spawner{};         ///< the task that spawns, in its own poll; none when the runtime does
  void* frame = nullptr;    ///< the host's
  bool handle = true;       ///< somebody will call release(); without it the id is stale as soon as the task has ended
  bool cleanup = false;     ///< started by a finalizer, in a region that is Finalizing
  std::uint64_t cause = 0;  ///< the event that led to the spawn
};

/// Who sees to a promise when that is no task (OBL-11).
enum class Service : std::uint8_t { none, reactor, lease_keeper };

/// Who must see to a promise: a task; a service, for a task or for nobody; or nobody, and the leak audit will find it.
struct Holder {
  TaskId task{};  ///< with a service: the task whose buffer is in use; it is not forced meanwhile (CAN-8)
  Service service = Service::none;

  constexpr Holder() noexcept = default;
  constexpr Holder(TaskId holder) noexcept : task(holder) {}    // NOLINT(google-explicit-constructor): a task holds
  constexpr Holder(Service keeper, TaskId whose = {}) noexcept  // NOLINT(google-explicit-constructor): a service holds
      : task(whose), service(keeper) {}

  [[nodiscard]] constexpr bool is_task() const noexcept { return service == Service::none && bool(task); }
  [[nodiscard]] constexpr bool is_none() const noexcept { return service == Service::none && !task; }

  friend constexpr bool operator==(const Holder&, const Holder&) noexcept = default;
};

struct ObligationSpec {
  ObligationKind kind = ObligationKind::custom;
  Holder holder{};
  trace::ResourceId resource{};  ///< what it is a promise about: the channel, the pool, …
  Site site = Site::current();
};

/// What a cancel says; the kernel adds when.
struct CancelSpec {
  CancelKind kind = CancelKind::user;
  RegionId region{};  ///< origin; none stands for the cancelled region itself, or the region of the cancelled task
  TaskId task{};      ///< origin, or none
  std::string_view message{};
  const Reason* cause = nullptr;
};

}  // namespace calm::kernel
