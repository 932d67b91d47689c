// kinds.hpp — the makers of the zoo's programs.
// Laws:    LAB-5
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/explore/threads.hpp"

namespace calm::zoo {

using Make = explore::Threads::Setup(std::uint32_t n, std::uint32_t m);

Make readers;
Make lastzero;
Make indexer;
Make filesystem;
Make popl;
Make sleeping_races;
Make trap;
Make fetch_add;
Make increment;
Make reversal;
Make stale_cas;
Make siblings;
Make mailbox;
Make mailbox_coarse;
Make philosophers;
Make abba;
Make cancel;
Make commit_cancel;
Make race;
Make workqueue;
Make pipeline;
Make join_all;

}  // namespace calm::zoo
