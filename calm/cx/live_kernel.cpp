#include "calm/cx/live_kernel.hpp"

#include <cstddef>

#include "calm/cx/frame.hpp"
#include "calm/cx/task_root.hpp"
#include "calm/cx/wait.hpp"
#include "calm/kernel/obligation_record.hpp"
#include "calm/kernel/region_record.hpp"
#include "calm/kernel/task_record.hpp"
#include "calm/lockfree/local_atomics.hpp"
#include "calm/lockfree/lock.hpp"

// Both compilers know the offsets in any class without virtual bases, and say so for plain ones only.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace calm::cx {
namespace {

using LocalRegion = kernel::RegionRecord<lockfree::LocalAtomics>;
using LocalTask = kernel::TaskRecord<lockfree::LocalAtomics>;
using LocalObligation = kernel::ObligationRecord<lockfree::LocalAtomics>;

constinit lockfree::Lock<> lock;

}  // namespace

consteval std::size_t ShellOwners::traits_offset() noexcept { return offsetof(ShellOwners, traits_); }

consteval TaskRoot::Offsets TaskRoot::offsets() noexcept {
  return {.stand = offsetof(TaskRoot, stand_),
          .over = static_cast<std::size_t>(Stand::over),
          .context = offsetof(TaskRoot, live_) - sizeof(Context),  // what lies in front of that
          .leaf = offsetof(TaskRoot, live_.leaf),
          .wait = offsetof(TaskRoot, live_.wait),
          .last_await = offsetof(TaskRoot, last_await_),
          .runs_or_waits = offsetof(TaskRoot, runs_or_waits_),
          .named = offsetof(TaskRoot, owners_) + ShellOwners::traits_offset(),
          .named_bit = ShellOwners::named_bit,
          .name_before = sizeof(Name)};
}

consteval std::size_t SleepWait::until_offset() noexcept { return offsetof(SleepWait, until_); }

/// Knows the inside of the classes that a debugger reads. A record looks the same with every atomics policy, and so does a
/// class around one number and that number: ids, words, values to glance at.
struct DebugLayout {
  static_assert(sizeof(LocalRegion) == sizeof(kernel::RegionRecord<lockfree::RealAtomics>) &&
                sizeof(LocalTask) == sizeof(kernel::TaskRecord<lockfree::RealAtomics>) &&
                sizeof(LocalObligation) == sizeof(kernel::ObligationRecord<lockfree::RealAtomics>) &&
                LocalTask::SlabType::first_index_offset() == LocalObligation::SlabType::first_index_offset());

  static constexpr DebugRow rows[] = {
      {"LiveKernel.root", offsetof(LiveKernel, anatomy_.root)},
      {"LiveKernel.obligation_directory", offsetof(LiveKernel, anatomy_.obligation_directory)},
      {"LiveKernel.older", offsetof(LiveKernel, after_)},
      {"Slab.chunk_bytes", LocalTask::SlabType::chunk_bytes},
      {"Slab.first_index", LocalTask::SlabType::first_index_offset()},

      {"RegionRecord.gate", offsetof(LocalRegion, gate)},
      {"RegionRecord.id", offsetof(LocalRegion, self)},
      {"RegionRecord.state", offsetof(LocalRegion, state)},
      {"RegionRecord.cancelled", offsetof(LocalRegion, cancelled)},
      {"RegionRecord.tasks", offsetof(LocalRegion, tasks)},  // a ring through this place, linked as the tasks are
      {"RegionRecord.cleanup_tasks", offsetof(LocalRegion, cleanup_tasks)},
      {"RegionRecord.finalizers", offsetof(LocalRegion, finalizers)},
      {"RegionRecord.first_child", offsetof(LocalRegion, first_child)},
      {"RegionRecord.next", offsetof(LocalRegion, after)},
      {"RegionRecord.owner", offsetof(LocalRegion, owner)},
      {"RegionRecord.unowned", offsetof(LocalRegion, unowned)},

      {"TaskRecord.bytes", sizeof(LocalTask)},
      {"TaskRecord.word", offsetof(LocalTask, word)},
      {"TaskRecord.next", offsetof(LocalTask, after)},
      {"TaskRecord.tally", offsetof(LocalTask, tally)},
      {"TaskRecord.frame", offsetof(LocalTask, frame)},
      {"TaskRecord.next_finalizer", offsetof(LocalTask, queue_link)},

      {"TaskTerms.bytes", sizeof(LocalTask::Terms)},
      {"TaskTerms.in_chunk", LocalTask::SlabType::asides_offset()},
      {"TaskTerms.held", offsetof(LocalTask::Terms, held)},
      {"TaskTerms.settled_away", offsetof(LocalTask::Terms, settled_away)},

      {"ObligationRecord.bytes", sizeof(LocalObligation)},
      {"ObligationRecord.per_chunk", LocalObligation::SlabType::slots_per_chunk},
      {"ObligationRecord.generation", offsetof(LocalObligation, generation)},
      {"ObligationRecord.kind", offsetof(LocalObligation, kind)},
      {"ObligationRecord.service", offsetof(LocalObligation, service)},
      {"ObligationRecord.region", offsetof(LocalObligation, region)},
      {"ObligationRecord.task", offsetof(LocalObligation, task)},
      {"ObligationRecord.next", offsetof(LocalObligation, after)},
      {"ObligationRecord.resource", offsetof(LocalObligation, resource)},
      {"ObligationRecord.since", offsetof(LocalObligation, since)},
      {"ObligationRecord.site", offsetof(LocalObligation, site)},

      {"TaskRoot.stand", TaskRoot::offsets().stand},
      {"TaskRoot.over", TaskRoot::offsets().over},
      {"TaskRoot.context", TaskRoot::offsets().context},
      {"TaskRoot.leaf", TaskRoot::offsets().leaf},
      {"TaskRoot.wait", TaskRoot::offsets().wait},
      {"TaskRoot.last_await", TaskRoot::offsets().last_await},
      {"TaskRoot.runs_or_waits", TaskRoot::offsets().runs_or_waits},
      {"TaskRoot.named", TaskRoot::offsets().named},
      {"TaskRoot.named_bit", TaskRoot::offsets().named_bit},
      {"TaskRoot.name_before", TaskRoot::offsets().name_before},
      {"SleepWait.until", SleepWait::until_offset()},

      {"Frame.above", offsetof(Frame, above)},
      {"Above.frame", offsetof(FrameAwaiter, frame) - sizeof(Awaiter)},
      {"Above.site", offsetof(FrameAwaiter, site) - sizeof(Awaiter)},

      {nullptr, 0},
  };
};

LiveKernel::LiveKernel(const kernel::Anatomy& anatomy) noexcept : anatomy_(anatomy) {
  lock.lock();
  after_ = calm_debug_anchor.newest;
  if (after_ != nullptr) after_->before_ = this;
  calm_debug_anchor.newest = this;
  lock.unlock();
}

LiveKernel::~LiveKernel() {
  lock.lock();
  (before_ == nullptr ? calm_debug_anchor.newest : before_->after_) = after_;
  if (after_ != nullptr) after_->before_ = before_;
  lock.unlock();
}

}  // namespace calm::cx

constinit calm::cx::DebugAnchor calm_debug_anchor{calm::cx::DebugLayout::rows, nullptr};
