// follow.hpp — makes a recorded run of the runtime again: the same polls in the same order, the same times, the same inputs.
// Laws:    SCH-9, LAB-3
// Threads: one; threads of the program that spawn tasks from outside run beside it
// Cancel:  as in the run
//
//   calm::block_on(program, {.workers = 2, .record = {.file = "run.calm"}});        // in production
//   const auto recorded = calm::sched::read_run(text_of("run.calm")).value();         // in the lab
//   const auto report = calm::lab::follow(recorded, program);
//   EXPECT_TRUE(report.is_clean()) << to_string(report);
//
// The lab does what the recording says, step by step, and compares: is the task runnable, does it look at the clock when it
// did, does it end where it did. Where something is not so, the run is left, and the report says what was expected and what
// is. That happens when the program is another one, and when its tasks share something that calm does not see. A call that
// blocks is made again, by the lab, when the recording says that it ended; numbers, enumerators and strings that it returned are
// given again, whatever it returns now. Threads that spawn from outside are the program's own and must come again.
#pragma once

#include "calm/lab/program.hpp"
#include "calm/lab/report.hpp"
#include "calm/sched/recorded_run.hpp"

namespace calm::lab {

/// Gives: the report of the run, asked all oracles. When it is not the recorded one, that is its only problem: what was
///        expected, at which step, what is there, who is runnable. A recording that was cut off is followed to where it is,
///        and that is what the report says. Fails: std::bad_alloc.
LabReport follow_program(const sched::RecordedRun& run, Program& program);

/// The same for `program(cx)`; it is copied into the run.
template <class F>
LabReport follow(const sched::RecordedRun& run, F program) {
  ProgramOf<F> root(program);
  return follow_program(run, root);
}

}  // namespace calm::lab
