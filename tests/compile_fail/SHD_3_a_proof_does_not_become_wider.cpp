// expect(clang): no known conversion from 'Held<ShardSet::home_tasks aka 2>' to 'Held<ShardSet::all_tasks aka 6>' for 1st argument
// expect(gcc): could not convert 'held' from '.*Held<calm::kernel::ShardSet::home_tasks>' to '.*Held<calm::kernel::ShardSet::all_tasks>'
#include "calm/kernel/shards.hpp"

void walk_all_tasks(calm::kernel::TasksHeld held);
void look_at_one(calm::kernel::TaskHeld held);

#ifdef MUST_NOT_COMPILE
void look(calm::kernel::TaskHeld held) { walk_all_tasks(held); }
#else
void look(calm::kernel::TasksHeld held) { look_at_one(held); }
#endif
