#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <vector>

#include "calm/model/ledger.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/obligation_replica.hpp"
#include "tests/show.hpp"

namespace calm {
namespace {

TEST(Obligation, OBL_2_counted_and_recorded_kinds_are_as_the_law_says) {
  const auto counted = [](ObligationKind kind, bool tracked) { return !has_record(kind, tracked); };
  for (const bool tracked : {false, true}) {
    EXPECT_TRUE(counted(ObligationKind::lock_guard, tracked));
    EXPECT_TRUE(counted(ObligationKind::semaphore_permit, tracked));
    for (const ObligationKind kind :
         {ObligationKind::ack, ObligationKind::lease, ObligationKind::io_operation, ObligationKind::pool_checkout,
          ObligationKind::finalizer, ObligationKind::custom}) {
      EXPECT_TRUE(has_record(kind, tracked)) << kind;
    }
  }
  EXPECT_TRUE(counted(ObligationKind::send_permit, false));
  EXPECT_TRUE(has_record(ObligationKind::send_permit, true));
}

TEST(Obligation, OBL_2_there_are_nine_kinds_with_names) {
  const char* const names[] = {"send permit", "ack",           "lease",     "I/O operation", "semaphore permit",
                               "lock guard",  "pool checkout", "finalizer", "custom"};
  ASSERT_EQ(obligation_kind_count, std::size(names));
  for (std::uint8_t i = 0; i < obligation_kind_count; ++i)
    EXPECT_EQ(to_string(static_cast<ObligationKind>(i)), names[i]);
}

TEST(Ledger, OBL_3_a_count_never_goes_below_zero) {
  Ledger ledger;
  EXPECT_EQ(ledger.resolve(ObligationKind::ack), Status(Errc::obligation_already_resolved));
  EXPECT_TRUE(ledger.is_zero());
  EXPECT_TRUE(ledger.reserve(ObligationKind::ack));
  EXPECT_EQ(ledger.resolve(ObligationKind::lease), Status(Errc::obligation_already_resolved));
  EXPECT_EQ(ledger.open(ObligationKind::ack), 1U);
  EXPECT_FALSE(ledger.is_zero());
  EXPECT_TRUE(ledger.resolve(ObligationKind::ack));
  EXPECT_TRUE(ledger.is_zero());
}

RC_GTEST_PROP(Ledger, OBL_3_the_ledger_is_a_marking, (const std::vector<std::pair<std::uint8_t, bool>>& steps)) {
  Ledger ledger;
  std::map<std::uint8_t, std::uint64_t> marking;
  for (const auto& [number, reserve] : steps) {
    const auto kind = static_cast<ObligationKind>(number % obligation_kind_count);
    std::uint64_t& open = marking[static_cast<std::uint8_t>(kind)];
    const Ledger before = ledger;
    if (reserve) {
      RC_ASSERT(ledger.reserve(kind).is_ok());
      ++open;
    } else if (open > 0) {
      RC_ASSERT(ledger.resolve(kind).is_ok());
      --open;
    } else {
      RC_ASSERT(!ledger.resolve(kind));
      RC_ASSERT(ledger == before);
    }
    std::uint64_t total = 0;
    for (const auto& [each, count] : marking) {
      RC_ASSERT(ledger.open(static_cast<ObligationKind>(each)) == count);
      total += count;
    }
    RC_ASSERT(ledger.total() == total);
    RC_ASSERT(ledger.is_zero() == (total == 0));
  }
}

using R = ObligationReplica;

TEST(Replica, OBL_9_the_join_table_is_as_the_law_says) {
  // to:                      Reserved      Leaked       Aborted      Committed     Conflict
  const R expected[5][5] = {{R::reserved, R::leaked, R::aborted, R::committed, R::conflict},
                            {R::leaked, R::leaked, R::aborted, R::conflict, R::conflict},
                            {R::aborted, R::aborted, R::aborted, R::conflict, R::conflict},
                            {R::committed, R::conflict, R::conflict, R::committed, R::conflict},
                            {R::conflict, R::conflict, R::conflict, R::conflict, R::conflict}};
  for (std::size_t a = 0; a < 5; ++a) {
    for (std::size_t b = 0; b < 5; ++b) {
      EXPECT_EQ(join(obligation_replicas[a], obligation_replicas[b]), expected[a][b])
          << obligation_replicas[a] << " with " << obligation_replicas[b];
    }
  }
}

TEST(Replica, OBL_9_the_join_is_a_semilattice) {
  for (const R a : obligation_replicas) {
    EXPECT_EQ(join(a, a), a);
    EXPECT_TRUE(below(R::reserved, a));
    EXPECT_TRUE(below(a, R::conflict));
    for (const R b : obligation_replicas) {
      EXPECT_EQ(join(a, b), join(b, a));
      EXPECT_TRUE(below(a, join(a, b)));
      for (const R c : obligation_replicas) {
        EXPECT_EQ(join(a, join(b, c)), join(join(a, b), c));
        const bool bound = below(a, c) && below(b, c);
        EXPECT_TRUE(!bound || below(join(a, b), c)) << "not the least upper bound";
      }
    }
  }
}

TEST(Replica, OBL_9_every_local_state_has_its_place) {
  EXPECT_EQ(replica(ObligationState::reserved), R::reserved);
  EXPECT_EQ(replica(ObligationState::committed), R::committed);
  EXPECT_EQ(replica(ObligationState::aborted), R::aborted);
  EXPECT_EQ(replica(ObligationState::leaked), R::leaked);
  const char* const names[] = {"Reserved", "Leaked", "Aborted", "Committed", "Conflict"};
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(to_string(obligation_replicas[i]), names[i]);
}

}  // namespace
}  // namespace calm
