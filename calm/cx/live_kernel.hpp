// live_kernel.hpp — the kernels of this process in one list, and what their records look like: all that a debugger needs.
// Laws:    OBS-1 (of a process that cannot answer any more)
// Threads: anywhere
// Cancel:  not applicable
//
// gdb/calm.py starts at the symbol calm_debug_anchor and needs neither debug information nor a running process: the offsets
// of the fields it reads are data of the program itself.
#pragma once

#include <cstdint>

#include "calm/kernel/anatomy.hpp"

namespace calm::cx {

/// A kernel that programs run on; in the list for as long as this object lives.
class LiveKernel {
 public:
  explicit LiveKernel(const kernel::Anatomy& anatomy) noexcept;
  LiveKernel(const LiveKernel&) = delete;
  LiveKernel& operator=(const LiveKernel&) = delete;
  ~LiveKernel();

 private:
  friend struct DebugLayout;

  kernel::Anatomy anatomy_;
  LiveKernel* before_ = nullptr;
  LiveKernel* after_ = nullptr;
};

/// One thing to know of the memory: `TaskRecord.frame` is at this offset, `ObligationRecord.bytes` is this size.
struct DebugRow {
  const char* name;
  std::uint64_t value;
};

/// Where a debugger begins.
struct DebugAnchor {
  const DebugRow* rows;  ///< the last one has no name
  LiveKernel* newest;    ///< then older ones
};

}  // namespace calm::cx

extern "C" calm::cx::DebugAnchor calm_debug_anchor;
