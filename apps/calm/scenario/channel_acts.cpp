#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "apps/calm/scenario/steps.hpp"
#include "calm/cx/drive.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

// --- programs ---

std::vector<channel::Counts> all_counts(const World& world) {
  std::vector<channel::Counts> counts;
  for (const auto& [name, channel] : world.channels) {
    if (channel) counts.push_back(channel->counts().value_or(channel::Counts()));
  }
  return counts;
}

// Gives: true for answers that leave every channel as it was.
bool has_no_effect(Status status) noexcept {
  return status == Errc::full || status == Errc::empty || status == Errc::would_block ||
         status == Errc::invalid_argument || status == Errc::obligation_already_resolved;
}

std::string counts_text(const channel::Counts& counts) {
  return std::to_string(counts.queued) + " queued, " + std::to_string(counts.reserved) + " reserved, " +
         std::to_string(counts.unacked) + " unacked of " + std::to_string(counts.capacity);
}

// CHN-1, CHN-10 after every step; and a refusal has changed nothing (HND-2).
void look_at_counts(World& world, const Step& step, const std::vector<channel::Counts>& before, Status status) {
  const std::vector<channel::Counts> after = all_counts(world);
  for (std::size_t i = 0; i < after.size(); ++i) {
    const channel::Counts& now = after[i];
    if (now.queued + now.reserved + now.unacked > now.capacity) {
      world.differ(step, "capacity", "never more than there is room for", counts_text(now));
    }
    if (has_no_effect(status) && i < before.size() && now != before[i]) {
      world.differ(step, "refused", counts_text(before[i]), counts_text(now));
    }
  }
}

Program& program_of(World& world, const Step& step, std::string_view name) {
  world.demand_no_worker(step);
  Program* const program = world.program(world.task(name));
  if (program != nullptr) return *program;
  throw Problem(step.place, quoted(name) + " is no program, or has ended; the step program makes one");
}

/// Polls the program once. Gives: would_block while it waits.
Status go_on(World& world, const Step& step, Program& program) {
  const std::vector<channel::Counts> before = all_counts(world);
  world.host().take(program.task());
  (void)cx::drive(world.kernel(), world.worker(), program.task());
  const bool dropped = world.program(program.task()) == nullptr && program.busy() != nullptr;
  const Status status = dropped                     ? Status(Errc::cancelled)
                        : program.busy() != nullptr ? Status(Errc::would_block)
                                                    : program.answer().status;
  if (!program.fault().empty()) throw Problem(step.place, std::string(step.row->verb) + ": " + program.fault());
  look_at_counts(world, step, before, status);
  if (program.busy() == nullptr) world.expect(step, "gives", program.answer().text);
  return status;
}

// --- what steps name ---

Channel& channel_in(World& world, const Step& step, std::string_view name) {
  const auto found = world.channels.find(name);
  if (found != world.channels.end() && found->second) return *found->second;
  throw Problem(step.place, "the channel " + quoted(name) + " was not made");
}
Channel& channel_of(World& world, const Step& step) { return channel_in(world, step, step.subject.text); }
Channel& channel_named(World& world, const Step& step) { return channel_in(world, step, step.text("of")); }

HeldPlace& held_place(World& world, const Step& step) {
  const auto found = world.places.find(step.subject.text);
  if (found != world.places.end() && found->second.index() != 0) return found->second;
  throw Problem(step.place, "the place " + quoted(step.subject.text) + " was never reserved, or was dropped");
}
channel::Delivery<std::string>& delivery_of(World& world, const Step& step) {
  const auto found = world.deliveries.find(step.subject.text);
  if (found != world.deliveries.end() && found->second.has_value()) return found->second.value();
  throw Problem(step.place, "the delivery " + quoted(step.subject.text) + " was never received, or was dropped");
}

std::string sent_value(const Step& step) { return std::string(step.text("value")); }
std::uint64_t receiver_in(const Step& step) { return step.number("receiver", 1); }

// CHN-9: the proof is of the promise that the permit was.
template <class Proof>
std::string proof_text(const Proof& proof, ObligationId promise, const char* says) {
  return proof.promise() == promise ? says : "a proof of another promise";
}

Answer send_into(channel::Permit<std::string>& permit, std::string value) {
  return answer_of(std::move(permit).send(std::move(value)));
}
Answer send_into(channel::TrackedPermit<std::string>& permit, std::string value) {
  const ObligationId promise = permit.promise();
  auto sent = std::move(permit).send(std::move(value));
  if (sent) return {{}, proof_text(sent.value(), promise, "committed proof")};
  channel::Unsent<std::string> unsent = std::move(sent).error();
  return {unsent.code, std::move(unsent.value)};
}
Answer send_into(std::monostate& /*none*/, const std::string& /*value*/) { return {Errc::stale_handle, {}}; }

Answer abort_at(channel::Permit<std::string>& permit) { return {std::move(permit).abort(), {}}; }
Answer abort_at(channel::TrackedPermit<std::string>& permit) {
  const ObligationId promise = permit.promise();
  auto aborted = std::move(permit).abort();
  if (!aborted) return {aborted.error().code(), {}};
  return {{}, proof_text(aborted.value(), promise, "aborted proof")};
}
Answer abort_at(std::monostate& /*none*/) { return {Errc::stale_handle, {}}; }

}  // namespace

Status order(World& world, const Step& step, Deed deed) {
  Program& program = program_of(world, step, step.text("by"));
  if (const Step* const busy = program.busy()) {
    throw Problem(step.place, quoted(step.text("by")) + " still waits in its step " + std::string(busy->row->verb) +
                                  " of line " + std::to_string(busy->place.line) + "; resume comes first");
  }
  program.order(deed, step);
  (void)world.kernel().wake(world.worker(), program.task());
  return go_on(world, step, program);
}

Status make_program(World& world, const Step& step) {
  Program& program = world.add_program();
  const Status status = program.spawn(world.region_in(step, "in"), step.value<Budget>("budget"));
  if (status) world.add(world.new_name(step), program.task());
  return status;
}

Status resume(World& world, const Step& step) {
  Program& program = program_of(world, step, step.subject.text);
  if (!world.host().take(program.task())) {
    world.differ(step, "woken", "true", "false");
    return Errc::would_block;
  }
  return go_on(world, step, program);
}

Status dismiss(World& world, const Step& step) {
  Program& program = program_of(world, step, step.subject.text);
  if (program.busy() != nullptr)
    throw Problem(step.place, quoted(step.subject.text) + " still waits; it cannot end yet");
  program.dismiss();
  (void)world.kernel().wake(world.worker(), program.task());
  world.host().take(program.task());
  (void)cx::drive(world.kernel(), world.worker(), program.task());
  return {};
}

// What a deed is given lives as long as the world does, and with it every program.

Task<Answer> sleep_deed(Cx cx, World& /*world*/, const Step& step) {
  co_await sleep_until(cx, Time::at_ns(std::get<std::uint64_t>(step.subject.value)));
  co_return Answer{};
}

Task<Answer> open_deed(Cx cx, World& world, const Step& step) {
  OpenedChannel opened = open_channel(cx, step.word("kind", ChannelKind::mpsc),
                                      static_cast<std::uint32_t>(step.number("capacity", 1)), sent_value(step));
  if (opened.status) world.channels[world.new_name(step)] = std::move(opened.channel);
  co_return Answer{opened.status, {}};
}

Task<Answer> reserve_place_deed(Cx cx, World& world, const Step& step) {
  HeldPlace& held = world.places[world.new_name(step)];
  Answer answer = co_await channel_named(world, step).reserve(cx, held);
  co_return answer;
}

Task<Answer> try_reserve_place_deed(Cx cx, World& world, const Step& step) {
  co_return channel_named(world, step).try_reserve(cx, world.places[world.new_name(step)]);
}

Task<Answer> send_place_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return std::visit([&](auto& permit) { return send_into(permit, sent_value(step)); }, held_place(world, step));
}

Task<Answer> abort_place_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return std::visit([](auto& permit) { return abort_at(permit); }, held_place(world, step));
}

Task<Answer> drop_place_deed(Cx /*cx*/, World& world, const Step& step) {
  held_place(world, step).emplace<std::monostate>();
  co_return Answer{};
}

Task<Answer> send_deed(Cx cx, World& world, const Step& step) {
  Answer answer = co_await channel_of(world, step).send(cx, sent_value(step));
  co_return answer;
}

Task<Answer> try_send_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return channel_of(world, step).try_send(sent_value(step));
}

Task<Answer> send_evict_oldest_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return channel_of(world, step).send_evict_oldest(sent_value(step));
}

Task<Answer> recv_deed(Cx cx, World& world, const Step& step) {
  Answer answer = co_await channel_of(world, step).recv(cx, receiver_in(step));
  co_return answer;
}

Task<Answer> try_recv_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return channel_of(world, step).try_recv(receiver_in(step));
}

Task<Answer> recv_many_deed(Cx cx, World& world, const Step& step) {
  Answer answer = co_await channel_of(world, step).recv_many(cx, static_cast<std::size_t>(step.number("most", 1)));
  co_return answer;
}

Task<Answer> recv_with_ack_deed(Cx cx, World& world, const Step& step) {
  Delivered& delivered = world.deliveries[world.new_name(step)];
  Answer answer = co_await channel_named(world, step).recv_with_ack(cx, delivered);
  co_return answer;
}

Task<Answer> ack_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{std::move(delivery_of(world, step)).commit(), {}};
}

Task<Answer> nack_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{std::move(delivery_of(world, step)).nack(), {}};
}

Task<Answer> drop_delivery_deed(Cx /*cx*/, World& world, const Step& step) {
  (void)delivery_of(world, step);
  world.deliveries.find(step.subject.text)->second.reset();
  co_return Answer{};
}

Task<Answer> close_channel_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{channel_of(world, step).close(), {}};
}

Task<Answer> add_sender_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{channel_of(world, step).add_sender(), {}};
}

Task<Answer> drop_sender_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{channel_of(world, step).drop_sender(), {}};
}

Task<Answer> add_receiver_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{channel_of(world, step).add_receiver(), {}};
}

Task<Answer> drop_receiver_deed(Cx /*cx*/, World& world, const Step& step) {
  co_return Answer{channel_of(world, step).drop_receiver(receiver_in(step)), {}};
}

void look_at_channel(World& world, const Step& step) {
  const auto counts = channel_of(world, step).counts();
  if (!counts) return world.differ(step, "counts", "a channel with places, and an end of it", "none");
  world.expect(step, "queued", std::uint64_t{counts->queued});
  world.expect(step, "reserved", std::uint64_t{counts->reserved});
  world.expect(step, "unacked", std::uint64_t{counts->unacked});
  world.expect(step, "capacity", std::uint64_t{counts->capacity});
}

}  // namespace calm::scenario
