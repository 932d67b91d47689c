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

using Region = kernel::RegionRecord<lockfree::LocalAtomics>;
using Task = kernel::TaskRecord<lockfree::LocalAtomics>;
using Obligation = kernel::ObligationRecord<lockfree::LocalAtomics>;

constinit lockfree::Lock<> lock;

}  // namespace

consteval TaskRoot::Offsets TaskRoot::offsets() noexcept {
  return {.leaf = offsetof(TaskRoot, leaf_),
          .wait = offsetof(TaskRoot, wait_),
          .waits_for = offsetof(TaskRoot, waits_for_),
          .name = offsetof(TaskRoot, name_)};
}

consteval std::size_t SleepWait::until_offset() noexcept { return offsetof(SleepWait, until_); }

/// Knows the inside of the classes that a debugger reads. A record looks the same with every atomics policy, and so does a
/// class around one number and that number: ids, words, values to glance at.
struct DebugLayout {
  static_assert(sizeof(Region) == sizeof(kernel::RegionRecord<lockfree::RealAtomics>) &&
                sizeof(Task) == sizeof(kernel::TaskRecord<lockfree::RealAtomics>) &&
                sizeof(Obligation) == sizeof(kernel::ObligationRecord<lockfree::RealAtomics>) &&
                Task::SlabType::first_index_offset() == Obligation::SlabType::first_index_offset());

  static constexpr DebugRow rows[] = {
      {"LiveKernel.root", offsetof(LiveKernel, anatomy_.root)},
      {"LiveKernel.obligation_directory", offsetof(LiveKernel, anatomy_.obligation_directory)},
      {"LiveKernel.older", offsetof(LiveKernel, after_)},
      {"Slab.chunk_bytes", Task::SlabType::chunk_bytes},
      {"Slab.first_index", Task::SlabType::first_index_offset()},

      {"RegionRecord.gate", offsetof(Region, gate)},
      {"RegionRecord.id", offsetof(Region, self)},
      {"RegionRecord.state", offsetof(Region, state)},
      {"RegionRecord.cancelled", offsetof(Region, cancelled)},
      {"RegionRecord.tasks", offsetof(Region, tasks)},
      {"RegionRecord.cleanup_tasks", offsetof(Region, cleanup_tasks)},
      {"RegionRecord.finalizers", offsetof(Region, finalizers)},
      {"RegionRecord.first_child", offsetof(Region, first_child)},
      {"RegionRecord.next", offsetof(Region, after)},
      {"RegionRecord.owner", offsetof(Region, owner)},
      {"RegionRecord.unowned", offsetof(Region, unowned)},

      {"TaskRecord.bytes", sizeof(Task)},
      {"TaskRecord.word", offsetof(Task, word)},
      {"TaskRecord.next", offsetof(Task, after)},
      {"TaskRecord.held", offsetof(Task, held)},
      {"TaskRecord.tally", offsetof(Task, tally)},
      {"TaskRecord.settled_away", offsetof(Task, settled_away)},
      {"TaskRecord.frame", offsetof(Task, frame)},
      {"TaskRecord.next_finalizer", offsetof(Task, queue_link)},

      {"ObligationRecord.bytes", sizeof(Obligation)},
      {"ObligationRecord.per_chunk", Obligation::SlabType::slots_per_chunk},
      {"ObligationRecord.generation", offsetof(Obligation, generation)},
      {"ObligationRecord.kind", offsetof(Obligation, kind)},
      {"ObligationRecord.service", offsetof(Obligation, service)},
      {"ObligationRecord.region", offsetof(Obligation, region)},
      {"ObligationRecord.task", offsetof(Obligation, task)},
      {"ObligationRecord.next", offsetof(Obligation, after)},
      {"ObligationRecord.resource", offsetof(Obligation, resource)},
      {"ObligationRecord.since", offsetof(Obligation, since)},
      {"ObligationRecord.site", offsetof(Obligation, site)},

      {"TaskRoot.leaf", TaskRoot::offsets().leaf},
      {"TaskRoot.wait", TaskRoot::offsets().wait},
      {"TaskRoot.waits_for", TaskRoot::offsets().waits_for},
      {"TaskRoot.name", TaskRoot::offsets().name},
      {"SleepWait.until", SleepWait::until_offset()},

      {"Frame.self", offsetof(Frame, self)},
      {"Frame.parent", offsetof(Frame, parent)},
      {"Frame.site", offsetof(Frame, site)},

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
