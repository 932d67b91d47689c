#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/snapshot.hpp"
#include "calm/trace/bytes.hpp"
#include "calm/trace/hash.hpp"
#include "tests/unit/kernel/snapshots.hpp"

namespace calm::kernel::test {
namespace {

using Change = std::function<void(Snapshot&)>;

/// The encoding of the digest, written down a second time.
class Bytes {
 public:
  Bytes& number(std::uint64_t value) {
    bytes_.resize(bytes_.size() + 8);
    trace::store_little(&bytes_[bytes_.size() - 8], value);
    return *this;
  }
  Bytes& numbers(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) number(value);
    return *this;
  }
  Bytes& text(std::string_view text) {
    for (const char c : text) bytes_.push_back(static_cast<std::byte>(c));
    return *this;
  }
  [[nodiscard]] std::uint64_t digest() const { return trace::xxh64(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

TEST(StateDigest, LAB_12_is_xxh64_over_little_endian_numbers_in_the_stated_order) {
  EXPECT_EQ(state_digest(Snapshot()), Bytes().numbers({0, 0, 0}).digest());

  Snapshot snapshot = empty_root();
  RegionView& root = snapshot.regions[0];
  root.state = RegionState::draining;
  root.reason = stop(CancelKind::timeout, "too slow");
  root.epoch = {9};
  root.end = err(Errc::full);
  add_task(snapshot, 4, 1).wake = WakeState::queued;
  snapshot.tasks[0].left.polls = Quota(6);
  add_promise(snapshot, 3, ObligationKind::ack, 1, Holder(Service::reactor, task(4)), channel(8));

  Bytes bytes;
  bytes.number(1);  // regions
  bytes.numbers({region(1).bits(), 0, 4, 0, 1, 1, 0, 0, 0});
  bytes.numbers({0, 1, 0});     // body, handle, owner
  bytes.numbers({0, 0, 0, 0});  // budget
  bytes.number(0);              // policy
  bytes.numbers({1, 0, 1});     // reason: there, whole, one level
  bytes.numbers({static_cast<std::uint64_t>(CancelKind::timeout), 1, region(1).bits(), 0, 2'000'000'000});
  bytes.numbers({1, 7'000'000'000, 1, 500, 0, 210});  // its clean-up budget
  bytes.number(8).text("too slow");
  bytes.number(9);                                             // epoch
  bytes.numbers({0, 0, 0, 0});                                 // clean-up of its tasks
  bytes.numbers({1, static_cast<std::uint64_t>(Errc::full)});  // end
  bytes.numbers({0, 1, 0, 0, 0, 0, 0, 0, 0});                  // ledger
  bytes.numbers({0, 0});                                       // leaked, heap
  bytes.number(1);                                             // tasks
  bytes.numbers({task(4).bits(), region(1).bits(), 2, 1, 0});  // … Running, queued, place
  bytes.numbers({0, 1, 6, 0, 0});                              // left
  bytes.numbers({0, 1, 0, 0, 0, 0, 0, 0, 0});                  // … started …, no reason, epoch, no outcome
  bytes.numbers({0, 0, 0});                                    // counted
  bytes.number(1);                                             // obligations
  bytes.numbers({promise(3).bits(), region(1).bits(), 1, 1, task(4).bits(), 1, channel(8).bits(), 1'000'000'000});
  EXPECT_EQ(state_digest(snapshot), bytes.digest());
}

TEST(StateDigest, LAB_12_every_field_of_a_record_changes_it) {
  Snapshot base = family();
  request(base.tasks[0], stop());
  const std::vector<Change> changes = {
      [](Snapshot& s) { s.regions[1].id = region(3); },
      [](Snapshot& s) { s.regions[1].parent = region(3); },
      [](Snapshot& s) { s.regions[1].state = RegionState::draining; },
      [](Snapshot& s) { s.regions[1].creation = 8; },
      [](Snapshot& s) { s.regions[1].children_made = 8; },
      [](Snapshot& s) { s.regions[1].live_tasks = 8; },
      [](Snapshot& s) { s.regions[1].live_regions = 8; },
      [](Snapshot& s) { s.regions[1].live_cleanup = 8; },
      [](Snapshot& s) { s.regions[1].waiting_finalizers = 8; },
      [](Snapshot& s) { s.regions[1].body = true; },
      [](Snapshot& s) { s.regions[1].handle = false; },
      [](Snapshot& s) { s.regions[1].owner = task(1); },
      [](Snapshot& s) { s.regions[1].budget.deadline = Time(); },
      [](Snapshot& s) { s.regions[1].budget.polls = Quota(0); },
      [](Snapshot& s) { s.regions[1].budget.cost = Quota(0); },
      [](Snapshot& s) { s.regions[1].budget.priority = 1; },
      [](Snapshot& s) { s.regions[1].policy = FoldPolicy::collect; },
      [](Snapshot& s) { s.regions[1].reason = stop(); },
      [](Snapshot& s) { s.regions[1].epoch = {8}; },
      [](Snapshot& s) { s.regions[1].cleanup.polls = Quota(8); },
      [](Snapshot& s) { s.regions[1].end = err(Errc::full); },
      [](Snapshot& s) { s.regions[1].end = err(Errc::empty); },
      [](Snapshot& s) { s.regions[1].end = cancelled(stop()); },
      [](Snapshot& s) { s.regions[1].end = cancelled(stop(CancelKind::timeout)); },
      [](Snapshot& s) { s.regions[1].end = panicked(Panic::with_message("x").exception()); },
      [](Snapshot& s) { (void)s.regions[1].ledger.reserve(ObligationKind::lease); },
      [](Snapshot& s) { s.regions[1].leaked = 8; },
      [](Snapshot& s) { s.regions[1].heap_bytes = 8; },
      [](Snapshot& s) { s.tasks[0].id = task(0); },
      [](Snapshot& s) { s.tasks[0].region = region(2); },
      [](Snapshot& s) { s.tasks[0].state = TaskState::cancelling; },
      [](Snapshot& s) { s.tasks[0].wake = WakeState::running; },
      [](Snapshot& s) { s.tasks[0].creation = 8; },
      [](Snapshot& s) { s.tasks[0].left.polls = Quota(8); },
      [](Snapshot& s) { s.tasks[0].cleanup = true; },
      [](Snapshot& s) { s.tasks[0].started = false; },
      [](Snapshot& s) { s.tasks[0].forced = true; },
      [](Snapshot& s) { s.tasks[0].mask_depth = 1; },
      [](Snapshot& s) { s.tasks[0].cleanup_polls = 1; },
      [](Snapshot& s) { s.tasks[0].cleanup_quota = 1; },
      [](Snapshot& s) { s.tasks[0].epoch = {8}; },
      [](Snapshot& s) { s.tasks[0].outcome = OutcomeKind::ok; },
      [](Snapshot& s) { s.tasks[0].outcome = OutcomeKind::err; },
      [](Snapshot& s) { s.tasks[0].counted[0] = 1; },
      [](Snapshot& s) { s.tasks[0].counted[1] = 1; },
      [](Snapshot& s) { s.tasks[0].counted[2] = 1; },
      [](Snapshot& s) { s.obligations[0].id = promise(0); },
      [](Snapshot& s) { s.obligations[0].region = region(1); },
      [](Snapshot& s) { s.obligations[0].kind = ObligationKind::ack; },
      [](Snapshot& s) { s.obligations[0].state = ObligationState::leaked; },
      [](Snapshot& s) { s.obligations[0].holder = task(1); },
      [](Snapshot& s) { s.obligations[0].holder = Holder(Service::reactor, task(2)); },
      [](Snapshot& s) { s.obligations[0].resource = channel(9); },
      [](Snapshot& s) { s.obligations[0].since = Time(); },
      [](Snapshot& s) { s.regions.pop_back(); },
      [](Snapshot& s) { s.tasks.pop_back(); },
      [](Snapshot& s) { s.obligations.pop_back(); },
  };
  std::map<std::uint64_t, std::size_t> seen{{state_digest(base), changes.size()}};
  for (std::size_t i = 0; i < changes.size(); ++i) {
    Snapshot changed = base;
    changes[i](changed);
    const auto [same, is_new] = seen.emplace(state_digest(changed), i);
    EXPECT_TRUE(is_new) << "change " << i << " gives the digest of " << same->second;
  }
}

TEST(StateDigest, LAB_12_the_whole_story_of_a_reason_enters) {
  const auto digest_of = [](const Reason& reason) {
    Snapshot snapshot = family();
    request(snapshot.tasks[0], reason);
    return state_digest(snapshot);
  };
  const Reason cause = stop(CancelKind::timeout, "slow");
  const Reason other = stop(CancelKind::timeout, "slaw");
  const ReasonSpec spec{.kind = CancelKind::shutdown, .region = region(1), .task = task(2), .at = Time::at_ns(5)};
  const auto with = [&](const std::function<void(ReasonSpec&)>& change) {
    ReasonSpec changed = spec;
    change(changed);
    return digest_of(Reason(changed));
  };
  const std::uint64_t digests[] = {
      digest_of(Reason(spec)),
      with([](ReasonSpec& s) { s.kind = CancelKind::user; }),
      with([](ReasonSpec& s) { s.region = region(2); }),
      with([](ReasonSpec& s) { s.task = {}; }),
      with([](ReasonSpec& s) { s.at = Time::at_ns(6); }),
      with([](ReasonSpec& s) { s.message = "m"; }),
      with([](ReasonSpec& s) { s.cleanup_time = Duration::seconds(1); }),
      with([&](ReasonSpec& s) { s.cause = &cause; }),
      with([&](ReasonSpec& s) { s.cause = &other; }),
      digest_of(Reason()),
  };
  for (const std::uint64_t& a : digests) {
    for (const std::uint64_t& b : digests) EXPECT_EQ(a == b, &a == &b) << &a - digests << " and " << &b - digests;
  }
}

TEST(StateDigest, LAB_12_a_truncated_story_is_told_apart_by_its_mark) {
  const std::string longest(message_byte_max, 'x');
  Snapshot whole = family();
  Snapshot cut = family();
  whole.regions[0].reason = stop(CancelKind::user, longest);
  cut.regions[0].reason = stop(CancelKind::user, longest + "y");
  ASSERT_TRUE(cut.regions[0].reason.truncated());
  EXPECT_NE(state_digest(whole), state_digest(cut));
}

TEST(StateDigest, LAB_12_addresses_sites_time_rounds_and_the_hosts_numbers_stay_out) {
  const Snapshot base = family();
  const std::uint64_t digest = state_digest(base);
  const Change changes[] = {
      [](Snapshot& s) { s.now = Time::at_ns(99); },
      [](Snapshot& s) { s.round = 99; },
      [](Snapshot& s) { s.pending_timers = 99; },
      [](Snapshot& s) { s.undrained_channels = 99; },
      [](Snapshot& s) { s.tasks[0].last_round = 99; },
      [](Snapshot& s) { s.tasks[0].await_site = Site::current(); },
      [](Snapshot& s) { s.tasks[0].waits_for = channel(9); },
      [](Snapshot& s) { s.obligations[0].site = Site::current(); },
  };
  for (const Change& change : changes) {
    Snapshot changed = base;
    change(changed);
    EXPECT_EQ(state_digest(changed), digest) << &change - changes;
  }
  Snapshot told = base;
  told.regions[0].end = err(Error(Errc::full, "one text"));
  Snapshot retold = base;
  retold.regions[0].end = err(Error(Errc::full, "another"));
  EXPECT_EQ(state_digest(told), state_digest(retold)) << "an Err enters with its code";
  told.regions[0].reason = stop();
  retold.regions[0].reason = stop();
  ASSERT_FALSE(told.regions[0].reason.same_story(retold.regions[0].reason));
  EXPECT_EQ(state_digest(told), state_digest(retold)) << "two blocks of memory, one story";
}

}  // namespace
}  // namespace calm::kernel::test
