// tbb.hpp — how a workload is written for oneTBB: a function that uses task groups, in an arena with as many slots as workers.
#pragma once

#include <oneapi/tbb/task_group.h>

#include "bench/peers/peers.hpp"

namespace bench::peers::with_tbb {

using Function = std::uint64_t(Round& round);
using TbbWork = Work<Function>;

}  // namespace bench::peers::with_tbb
