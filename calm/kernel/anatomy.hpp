// anatomy.hpp — where the records of a kernel lie, for a debugger that reads the memory of a process, or its core.
// Laws:    OBS-1 (of a process that cannot answer any more)
// Threads: values
// Cancel:  not applicable
//
// From the root region every live region, task and clean-up task is reached by the links in their records; obligations of a
// task by the index it keeps. gdb/calm.py walks them.
#pragma once

namespace calm::kernel {

/// Good for the life of the kernel: records do not move, and the directory of a slab is made once.
struct Anatomy {
  const void* root = nullptr;                  ///< the RegionRecord of the root
  const void* obligation_directory = nullptr;  ///< Slab::directory() of the ObligationRecords
};

}  // namespace calm::kernel
