#include "calm/trace/event.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cstring>
#include <set>
#include <string_view>

#include "calm/trace/argument.hpp"
#include "calm/trace/bytes.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

// LAB-2
TEST(Event, kinds_have_stable_numbers_and_different_names) {
  EXPECT_EQ(static_cast<int>(EventKind::spawn), 1);
  EXPECT_EQ(static_cast<int>(EventKind::cancel_done), 6);
  EXPECT_EQ(static_cast<int>(EventKind::region_move), 10);
  EXPECT_EQ(static_cast<int>(EventKind::choice), 14);
  EXPECT_EQ(static_cast<int>(EventKind::access), 15);
  EXPECT_EQ(static_cast<int>(EventKind::forced), 16);
  EXPECT_EQ(static_cast<int>(EventKind::mark), 17);
  EXPECT_EQ(event_kind_count, 17);
  std::set<std::string_view> names;
  for (const EventKindRow& row : event_kind_table) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(to_string(row.kind), row.name);
    EXPECT_EQ(find_event_kind(static_cast<std::uint8_t>(row.kind)), &row);
  }
  EXPECT_EQ(find_event_kind(0), nullptr);
  EXPECT_EQ(find_event_kind(event_kind_count + 1), nullptr);
  EXPECT_EQ(find_event_kind(255), nullptr);
}

TEST(Event, everything_but_the_bare_access_is_semantic) {
  for (const EventKindRow& row : event_kind_table) EXPECT_EQ(row.semantic, row.kind != EventKind::access) << row.name;
}

TEST(Event, words_stored_little_endian_are_the_memory_layout) {
  const Event event = patterned(0x1234567);
  const EventWords words = to_words(event);
  std::array<std::byte, sizeof(Event)> bytes;
  for (std::size_t i = 0; i < words.size(); ++i) store_little(bytes.data() + 8 * i, words[i]);
  if constexpr (std::endian::native == std::endian::little) {
    EXPECT_EQ(std::memcmp(bytes.data(), &event, sizeof event), 0);
  }
  EXPECT_EQ(bytes[0], static_cast<std::byte>(event.kind));
  EXPECT_EQ(load_little<std::uint64_t>(bytes.data() + 8), event.sequence);
}

RC_GTEST_PROP(Event, words_and_events_are_the_same_thing, ()) {
  for (const Event& event : (*any_trace()).events) RC_ASSERT(from_words(to_words(event)) == event);
}

TEST(Event, words_that_no_event_has_do_not_come_back) {
  EventWords words = to_words(patterned(5));
  words[2] = UINT64_MAX;        // after the last instant
  words[3] = region(1).bits();  // not a task
  words[5] = 1;                 // neither a record nor registered
  const Event event = from_words(words);
  EXPECT_EQ(event.time, Time::max());
  EXPECT_FALSE(event.task);
  EXPECT_FALSE(event.resource);
  EXPECT_NE(to_words(event), words);
}

TEST(ResourceId, is_made_from_any_record_or_registered_part) {
  static_assert(sizeof(ResourceId) == 8);
  EXPECT_EQ(ResourceId(ChannelId(3, Generation(2))).bits(), ChannelId(3, Generation(2)).bits());
  EXPECT_NE(ResourceId(ObligationId(3, Generation())), ResourceId(TimerId(3, Generation())));
  EXPECT_NE(ResourceId::registered(1, 2), ResourceId::registered(2, 1));
  const ResourceId slot = ResourceId::registered(ResourceId::object_max, UINT32_MAX);
  EXPECT_TRUE(slot.is_registered());
  EXPECT_EQ(slot.object(), ResourceId::object_max);
  EXPECT_EQ(slot.part(), UINT32_MAX);
  EXPECT_FALSE(ResourceId(task(7)).is_registered());
  EXPECT_TRUE(ResourceId::registered(0)) << "also the first object has a name";
  EXPECT_FALSE(ResourceId());
  EXPECT_FALSE(ResourceId(TaskId()));
}

TEST(ResourceId, comes_back_from_its_bits_unless_they_name_nothing) {
  for (const ResourceId id : {ResourceId(), ResourceId(region(1)), ResourceId(ChannelId(0, Generation(9))),
                              ResourceId::registered(0), ResourceId::registered(4, 5)}) {
    EXPECT_EQ(ResourceId::from_bits(id.bits()), id);
  }
  EXPECT_FALSE(ResourceId::from_bits(1));
  EXPECT_FALSE(ResourceId::from_bits(std::uint64_t{7} << 56 | std::uint64_t{1} << 32)) << "no such type of record";
  EXPECT_FALSE(ResourceId::from_bits(std::uint64_t{1} << 56)) << "no generation";
}

TEST(Argument, says_outcomes_obligations_reasons_and_moves) {
  for (const OutcomeKind kind : outcome_kinds) EXPECT_EQ(outcome_in(argument_of(kind)), kind);
  for (const ObligationKindRow& row : obligation_kind_table) EXPECT_EQ(obligation_in(argument_of(row.kind)), row.kind);
  for (const ObligationState state : obligation_states) EXPECT_EQ(resolution_in(argument_of(state)), state);
  for (const CancelKindRow& row : cancel_kind_table) {
    const CancelArgument reason{row.kind, 5};
    EXPECT_EQ(cancel_in(argument_of(reason)), reason);
  }
  for (const Move<RegionState> move : region_moves) {
    const auto read = region_move_in(argument_of(move));
    ASSERT_TRUE(read);
    EXPECT_EQ(read->from, move.from);
    EXPECT_EQ(read->to, move.to);
  }
}

TEST(Argument, that_cannot_exist_is_read_as_nothing) {
  for (const std::uint64_t number :
       {std::uint64_t{1} << 16, std::uint64_t{1} << 63, UINT64_MAX, std::uint64_t{0xFFFF}}) {
    EXPECT_FALSE(outcome_in(number));
    EXPECT_FALSE(obligation_in(number));
    EXPECT_FALSE(resolution_in(number));
    EXPECT_FALSE(cancel_in(number));
    EXPECT_FALSE(region_move_in(number));
  }
  EXPECT_FALSE(resolution_in(0));
  EXPECT_FALSE(resolution_in(3));
  EXPECT_FALSE(region_move_in(1));
  EXPECT_FALSE(region_move_in(0x2001));
}

}  // namespace
}  // namespace calm::trace
