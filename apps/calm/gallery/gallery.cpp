#include "apps/calm/gallery/gallery.hpp"

#include <algorithm>

#include "apps/calm/gallery/bugs.hpp"

namespace calm::gallery {
namespace {

constexpr auto lock_order = Exhibit::Kind::lock_order;
constexpr auto unruly = Exhibit::Kind::unruly;

constexpr Exhibit all[] = {
    {"lost_update", lost_update, 1, "two read a counter and write it back increased", "one fetch-add each"},
    {"double_close", double_close, 1, "two look whether a file is closed, then close it",
     "one exchange says who closes it"},
    {"lost_wakeup", lost_wakeup, 1, "looks, then parks: the wake comes between", "says that it parks, then looks"},
    {"notify_unlocked", notify_unlocked, 1, "a condition changes without the lock while a waiter looks at it",
     "it changes under the lock"},
    {"notify_wrong_kind", notify_wrong_kind, 0, "notify_one wakes a consumer where the producer should go on",
     "notify_all"},
    {"aba_stack", aba_stack, 1, "a stack's head is the same node again, but what is below it is not",
     "a tag that every change counts up"},
    {"dropped_wake", dropped_wake, 0, "who was chosen to wake is cancelled and tells nobody", "it passes the wake on"},
    {"dropped_permit", dropped_permit, 0, "who was granted a permit is cancelled and keeps it",
     "it gives the permit back"},
    {"futurelock", futurelock, 1, "a queued lock future is kept while its task locks again", "it is dropped first"},
    {"lock_across_await", lock_across_await, 0, "a blocking mutex is held across an await",
     "it is unlocked before the await"},
    {"lost_send", lost_send, 0, "a cancelled send drops the item that it holds", "a permit first, the item then"},
    {"half_frame", half_frame, 1, "a timer wins against a read that has half a frame",
     "the half belongs to the connection"},
    {"shared_bit", shared_bit, 0, "reader and timed writer clear the same bit", "a bit for each"},
    {"hidden_abba",
     hidden_abba,
     1,
     "two locks in opposite order, one taker comes late by n steps",
     "all take the lower lock first",
     lock_order,
     {2, 12, 6}},
    {"lock_ring",
     lock_ring,
     1,
     "n locks in a ring, and a log that all write",
     "all take the lower lock first",
     lock_order,
     {2, 6, 4}},
    {"late_philosophers",
     late_philosophers,
     1,
     "n philosophers, each comes later than the one before",
     "all take the lower fork first",
     lock_order,
     {2, 6, 4}},
    {"transfers",
     transfers,
     1,
     "n accounts, each pays the next one, the last one pays back",
     "all take the lower account first",
     lock_order,
     {2, 6, 5}},
    {"endless_spin", endless_spin, 0, "looks at a flag that nobody raises any more", "the flag stays up", unruly},
    {"endless_work", endless_work, 0, "two that write for ever", "they stop after three times", unruly},
    {"coin_toss", coin_toss, 0, "writes to another word every other time it runs", "always to the same one", unruly},
};

}  // namespace

std::span<const Exhibit> exhibits() { return all; }

Found find(std::string_view name) noexcept {
  const bool fixed = name.ends_with(fixed_suffix);
  if (fixed) name.remove_suffix(fixed_suffix.size());
  const auto* const found =
      std::find_if(std::begin(all), std::end(all), [name](const Exhibit& exhibit) { return exhibit.name == name; });
  if (found == std::end(all)) return {};
  return {found, fixed};
}

}  // namespace calm::gallery
