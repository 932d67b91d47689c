// steps.hpp — the functions behind the verbs of a scenario. schema.cpp says what each of them takes.
// Laws:    LAB-11
// Threads: one
// Cancel:  not applicable
#pragma once

#include "apps/calm/scenario/program.hpp"
#include "apps/calm/scenario/scenario.hpp"
#include "apps/calm/scenario/schema.hpp"
#include "apps/calm/scenario/world.hpp"
#include "calm/model/error_code.hpp"

namespace calm::scenario {

// Operations on regions (region_acts.cpp).
Status create_region(World& world, const Step& step);
Status close(World& world, const Step& step);
Status cancel(World& world, const Step& step);
Status end_body(World& world, const Step& step);
Status advance(World& world, const Step& step);
Status defer(World& world, const Step& step);
Status await_close(World& world, const Step& step);
void forget_close(World& world, const Step& step);
Status allocate(World& world, const Step& step);
Status check_heap(World& world, const Step& step);
Status release(World& world, const Step& step);

// Operations on tasks (task_acts.cpp).
Status spawn(World& world, const Step& step);
Status wake(World& world, const Step& step);
void begin_poll(World& world, const Step& step);
Status end_poll(World& world, const Step& step);
void poll(World& world, const Step& step);
Status complete(World& world, const Step& step);
Status unwound(World& world, const Step& step);
Status begin_finalizing(World& world, const Step& step);
Status request_cancel(World& world, const Step& step);
Status checkpoint(World& world, const Step& step);
Status enter_mask(World& world, const Step& step);
Status leave_mask(World& world, const Step& step);
Status spend(World& world, const Step& step);
Status deadline_reached(World& world, const Step& step);
Status await_end(World& world, const Step& step);
void forget_end(World& world, const Step& step);

// Operations on obligations (obligation_acts.cpp).
Status reserve(World& world, const Step& step);
Status commit(World& world, const Step& step);
Status abort(World& world, const Step& step);
Status hand_over(World& world, const Step& step);
Status drop_token(World& world, const Step& step);
Status count(World& world, const Step& step);
Status uncount(World& world, const Step& step);

// What the host knows and says (host_steps.cpp).
void set_time(World& world, const Step& step);
void set_round(World& world, const Step& step);
void set_timers(World& world, const Step& step);
void set_channels(World& world, const Step& step);
void look_at_queue(World& world, const Step& step);
void look_at_watch(World& world, const Step& step);
void look_at_finding(World& world, const Step& step);
void look_at_findings(World& world, const Step& step);
void look_at_destroyed(World& world, const Step& step);

// Looks at records (record_looks.cpp).
void look_at_region(World& world, const Step& step);
void look_at_task(World& world, const Step& step);
void look_at_obligation(World& world, const Step& step);

// Looks at the kernel as a whole, its trace and its witnesses (kernel_looks.cpp).
void look_idle(World& world, const Step& step);
void look_quiescent(World& world, const Step& step);
void look_at_leaks(World& world, const Step& step);
void look_at_dropped_tokens(World& world, const Step& step);
void look_at_lost_events(World& world, const Step& step);
void look_at_overwritten(World& world, const Step& step);
void look_at_trace(World& world, const Step& step);
void look_at_moves(World& world, const Step& step);
void mark_state(World& world, const Step& step);
void look_same_state(World& world, const Step& step);
void take_witness(World& world, const Step& step);
Status check_witness(World& world, const Step& step);

// Programs and channels (channel_acts.cpp). A deed runs in a poll of the program that its step names with `by`.
Status make_program(World& world, const Step& step);
Status resume(World& world, const Step& step);
Status dismiss(World& world, const Step& step);
/// Gives: would_block while the program waits; it goes on with resume.
Status order(World& world, const Step& step, Deed deed);
template <Deed deed>
Status ordered(World& world, const Step& step) {
  return order(world, step, deed);
}
Task<Answer> sleep_deed(Cx cx, World& world, const Step& step);
Task<Answer> open_deed(Cx cx, World& world, const Step& step);
Task<Answer> reserve_place_deed(Cx cx, World& world, const Step& step);
Task<Answer> try_reserve_place_deed(Cx cx, World& world, const Step& step);
Task<Answer> send_place_deed(Cx cx, World& world, const Step& step);
Task<Answer> abort_place_deed(Cx cx, World& world, const Step& step);
Task<Answer> drop_place_deed(Cx cx, World& world, const Step& step);
Task<Answer> send_deed(Cx cx, World& world, const Step& step);
Task<Answer> try_send_deed(Cx cx, World& world, const Step& step);
Task<Answer> send_evict_oldest_deed(Cx cx, World& world, const Step& step);
Task<Answer> recv_deed(Cx cx, World& world, const Step& step);
Task<Answer> try_recv_deed(Cx cx, World& world, const Step& step);
Task<Answer> recv_many_deed(Cx cx, World& world, const Step& step);
Task<Answer> recv_with_ack_deed(Cx cx, World& world, const Step& step);
Task<Answer> ack_deed(Cx cx, World& world, const Step& step);
Task<Answer> nack_deed(Cx cx, World& world, const Step& step);
Task<Answer> drop_delivery_deed(Cx cx, World& world, const Step& step);
Task<Answer> close_channel_deed(Cx cx, World& world, const Step& step);
Task<Answer> add_sender_deed(Cx cx, World& world, const Step& step);
Task<Answer> drop_sender_deed(Cx cx, World& world, const Step& step);
Task<Answer> add_receiver_deed(Cx cx, World& world, const Step& step);
Task<Answer> drop_receiver_deed(Cx cx, World& world, const Step& step);
void look_at_channel(World& world, const Step& step);

// Timers (timer_acts.cpp).
Status arm(World& world, const Step& step);
Status disarm(World& world, const Step& step);
void disarm_all(World& world, const Step& step);
void forge_timer(World& world, const Step& step);
void look_at_timer(World& world, const Step& step);
void churn_timers(World& world, const Step& step);
void fire_timers(World& world, const Step& step);
void wake_sleepers(World& world, const Step& step);
void look_at_wheel(World& world, const Step& step);

// The lanes of a worker (lane_acts.cpp).
void employ_worker(World& world, const Step& step);
void dispatch(World& world, const Step& step);
void dispatch_lanes(World& world, const Step& step);
void dispatch_by_seed(World& world, const Step& step);
void park(World& world, const Step& step);
void look_at_lanes(World& world, const Step& step);
void look_at_certificate(World& world, const Step& step);
void look_at_decision(World& world, const Step& step);
void look_at_victims(World& world, const Step& step);

// Values without a kernel (value_steps.cpp).
void make_outcome(World& world, const Step& step);
void make_reason(World& world, const Step& step);
void make_budget(World& world, const Step& step);
void make_value(World& world, const Step& step);
void look_equal(World& world, const Step& step);
void look_holds(World& world, const Step& step);

}  // namespace calm::scenario
