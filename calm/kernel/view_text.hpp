// view_text.hpp — the parts of a snapshot in words, the same in every report.
// Laws:    OBS-1 (what a report must name)
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "calm/kernel/snapshot.hpp"

namespace calm::kernel {

/// Gives: `worker.cpp:88`; nothing for a site that names no place. The path starts at a folder of the project.
std::string place_of(Site site);

/// Gives: the lead and the place, ` at worker.cpp:88`; nothing at all for a site that names no place.
std::string at_place(std::string_view lead, Site site);

/// Gives: `1 task`, `3 tasks`.
std::string counted_noun(std::uint64_t count, std::string_view noun);

/// Gives: how long ago that was, to a millisecond: `3250ms`; `0s` for what is yet to come.
std::string age_text(Time now, Time since);

/// Gives: `parked`, `queued`, `being polled`, `being polled and woken again`, `done`.
std::string_view wake_text(lockfree::WakeState wake) noexcept;

/// Gives: `t4`; `the reactor for t4`; `the lease keeper`; `nobody`.
std::string to_string(const Holder& holder);

/// Gives: `o5 send permit (c3, since 1.5s, made at worker.cpp:71)`, as much of it as is known.
std::string obligation_text(const ObligationView& obligation);

/// Gives: `1 send permit, 2 lock guards`: the promises without a record that the task holds; nothing when it holds none.
std::string counted_text(const TaskView& task);

/// Gives: `t40 "reader" in r1/r12: Running, parked for 3s at worker.cpp:88, waits for c3`, as much of it as is known. Of a
///        queued task it says when it was last polled.
std::string task_text(const Snapshot& snapshot, const TaskView& task);

}  // namespace calm::kernel
