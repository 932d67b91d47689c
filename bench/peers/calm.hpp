// calm.hpp — how a workload is written for calm: a Task that does one round of it and gives the answer.
#pragma once

#include "bench/peers/peers.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"

namespace bench::peers {

using CalmFunction = calm::Task<std::uint64_t>(calm::Cx cx, Round& round);
using CalmWork = Work<CalmFunction>;

}  // namespace bench::peers
