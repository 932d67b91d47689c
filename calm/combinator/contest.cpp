#include "calm/combinator/contest.hpp"

#include <new>
#include <string>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/notes.hpp"

namespace calm::combinator {
namespace {

/// Gives: the ticket of the branch that the running frame is the whole of; nullptr where it is none.
Ticket* ticket_of_running(const cx::TaskRoot& root) noexcept {
  const cx::FrameAwaiter* const above = root.awaiter_of(*root.leaf());
  return above == nullptr ? nullptr : above->ticket();
}

}  // namespace

Contest::Contest(const cx::Context& owner, Wanted wanted, std::size_t branches, std::size_t oks)
    : port_(owner.root()->port()),
      resource_(wanted == Wanted::all_ends ? trace::ResourceId() : port_.new_object()),
      oks_left_(oks),
      failures_left_(branches - oks),
      counted_(wanted == Wanted::enough_oks ? branches : 0),
      wanted_(wanted) {
  runners_.reserve(branches);
  CALM_REQUIRE(COM_1, wanted != Wanted::enough_oks || (oks >= 1 && oks <= branches), oks, branches);
  if (wanted_ != Wanted::first_end) return;
  Ticket* const ticket = ticket_of_running(*owner.root());
  if (ticket == nullptr || ticket->contest_->wanted_ != Wanted::first_end) return;
  around_ = ticket;
  around_->contest_->runners_[around_->branch_].race = this;
}

Contest::~Contest() {
  if (around_ != nullptr) around_->contest_->runners_[around_->branch_].race = nullptr;
}

void Contest::arrive(std::size_t branch, bool ok) noexcept {
  if (wanted_ == Wanted::all_ends) return;
  touch(decided_by_ == nobody ? trace::Access::write : trace::Access::read);
  if (decided_by_ != nobody) return;
  if (wanted_ == Wanted::first_end) {
    decide(branch);
    if (around_ != nullptr) around_->contest_->arrive(around_->branch_, ok);
  } else if (ok) {
    counted_[branch] = true;
    if (--oks_left_ == 0) decide(branch);
  } else if (failures_left_-- == 0) {
    decide(branch);
  }
}

void Contest::call_off(const ChildEnd& refusal) noexcept {
  refusal_ = refusal;
  if (decided_by_ == nobody) decide(nobody);
}

/// The branch that decides is not told: a reason stronger than its own would change its end (CAN-4).
void Contest::decide(std::size_t branch) noexcept {
  decided_by_ = branch;
  kernel::Worker& worker = port_.here();
  for (std::size_t other = 0; other < runners_.size(); ++other) {
    if (other != branch) stop(worker, runners_[other]);
  }
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as races are written inside races
void Contest::stop(kernel::Worker& worker, const Runner& loser) noexcept {
  (void)port_.request_cancel(worker, loser.task, {.kind = CancelKind::race_lost, .task = worker.running()});
  if (loser.race == nullptr) return;
  for (const Runner& branch : loser.race->runners_) stop(worker, branch);
}

void Contest::touch(trace::Access access) const noexcept {
  kernel::Worker& worker = port_.here();
  if (resource_) (void)worker.recorder().touch(resource_, access, worker.running());
}

void note_loser(Notes& notes, const char* what, std::size_t number, const ChildEnd& end, RegionId region,
                bool all) noexcept {
  const bool told = end.is_panicked() || (all && !end.is_ok() && !stopped_by_own_region(end, region));
  if (told) {
    std::string who;
    try {
      who = std::string(what) + ' ' + std::to_string(number);
      if (!end.is_panicked()) who += ": " + to_string(end);
    } catch (const std::bad_alloc&) {
      who.clear();  // what is known without memory: that it was, and the exception
    }
    notes.add(end.is_panicked() ? Note(std::move(who), end.panic()) : Note(end.kind(), std::move(who)));
  }
  notes.merge(end.notes());
}

}  // namespace calm::combinator
