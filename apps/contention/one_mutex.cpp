#include "apps/contention/run.hpp"
#include "calm/kernel/kernel_make.hpp"

namespace calm::contention {

Result run_one_mutex(const Order& order) { return Run<OneMutex>(order).run(); }

}  // namespace calm::contention
