// bugs.hpp — the makers of the gallery's programs; each makes the broken one or the mended one.
// Laws:    LAB-5, LAB-6
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/explore/threads.hpp"

namespace calm::gallery {

using Make = explore::Threads::Setup(bool fixed, std::uint32_t n);

Make lost_update;
Make double_close;
Make lost_wakeup;
Make aba_stack;

Make notify_unlocked;
Make notify_wrong_kind;

Make dropped_wake;
Make dropped_permit;
Make futurelock;
Make lock_across_await;

Make lost_send;
Make half_frame;
Make shared_bit;

Make hidden_abba;
Make lock_ring;
Make late_philosophers;
Make transfers;

Make endless_spin;
Make endless_work;
Make coin_toss;

}  // namespace calm::gallery
