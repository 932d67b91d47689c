#include "apps/contention/run.hpp"

namespace calm::contention {

Result run_sharded(const Order& order) { return Run<Sharded>(order).run(); }

}  // namespace calm::contention
