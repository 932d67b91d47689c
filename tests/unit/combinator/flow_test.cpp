// map_reduce and pipeline: what comes out is the same in every schedule, and what goes in is accounted for, whatever fails.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "calm/combinator/map_reduce.hpp"
#include "calm/combinator/pipeline.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "tests/unit/combinator/struck.hpp"
#include "tests/unit/sync/contest.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

using contest::ms;

template <class F>
void flow_in_lab(F program) {
  const auto report = lab::run({}, std::move(program));
  EXPECT_LAB_CLEAN(report);
  EXPECT_TRUE(report.end.is_ok()) << report.end.explain();
}

template <class T>
void expect_flow_error(const Outcome<T>& end, Errc code, const char* text) {
  EXPECT_TRUE(end.is_err());
  if (!end.is_err()) return;
  EXPECT_EQ(end.error().code(), code);
  EXPECT_NE(end.error().explain().find(text), std::string::npos) << end.error().explain();
}

// --- map_reduce ---

std::string concatenate(std::string left, const std::string& right) { return std::move(left) + right; }

/// Strings do not commute: what comes out tells the order of combination.
template <int inputs, std::uint32_t parallel>
Task<void> spelled(Cx cx) {
  lab::Shared<std::uint32_t> inside(cx, 0);
  lab::Shared<bool> too_many(cx, false);
  const auto spell = [&](Cx inner, int number) -> Task<std::string> {
    if (++inside.changed(inner) > parallel) too_many.set(inner, true);
    const auto give_way = [](Cx deep) -> Task<void> { co_await yield(deep); };
    const Outcome<void> end = co_await outcome(give_way(inner));
    --inside.changed(inner);
    if (!end.is_ok()) co_await fail_with(Outcome<void>(end));
    co_return std::string(1, static_cast<char>('a' + number));
  };
  std::vector<int> numbers;
  for (int number = 0; number < inputs; ++number) numbers.push_back(number);
  const Monoid joined{std::string(), concatenate};
  const MapReduceOptions options{.parallel = parallel};
  const Outcome<std::string> end = co_await outcome(map_reduce(cx, numbers, spell, joined, options));
  if (too_many.get(cx) || inside.get(cx) != 0 || end.is_err()) co_await fail(Errc::conflict);
  if (end.is_ok() && end.value() != std::string("abcdefgh").substr(0, inputs)) co_await fail(Errc::protocol);
}

TEST(MapReduce, COM_1_an_operation_that_does_not_commute_gives_the_same_in_every_schedule) {
  EXPECT_GE(contest::explore_both_ways(spelled<2, 2>), 2U);
  EXPECT_GE(contest::explore_all_of(spelled<3, 3>), 6U);
  EXPECT_GE(contest::explore_all_of(spelled<4, 2>), 2U);
  EXPECT_TRUE(contest::are_all(contest::explore_all_of(spelled<0, 1>), 1));
}

TEST(MapReduce, I5_a_cancel_at_any_await_point_leaves_no_call_behind) { contest::strike_and_count(spelled<3, 2>); }

TEST(MapReduce, I5_a_failure_cancels_the_calls_under_way_begins_no_other_and_waits) {
  flow_in_lab([](Cx cx) -> Task<void> {
    int begun = 0;
    int ended = 0;
    const auto works = [&](Cx inner, int number) -> Task<int> {
      ++begun;
      const Outcome<void> slept = co_await outcome(sleep(inner, ms(number == 1 ? 1 : 100'000)));
      ++ended;
      if (slept.is_cancelled()) co_await fail_with(Outcome<void>(slept));
      co_return err(Errc::io);
    };
    const auto plus = [](int a, int b) { return a + b; };
    const Monoid sum{0, plus};
    const MapReduceOptions options{.parallel = 2};
    const std::vector<int> inputs{0, 1, 2, 3, 4};
    const Outcome<int> end = co_await outcome(map_reduce(cx, inputs, works, sum, options));
    expect_flow_error(end, Errc::io, "io");
    EXPECT_EQ(begun, 2);
    EXPECT_EQ(ended, 2);
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(1)));
  });
}

TEST(MapReduce, COM_1_a_combination_that_throws_ends_all_and_is_thrown) {
  flow_in_lab([](Cx cx) -> Task<void> {
    const auto same = [](Cx inner, int number) -> Task<int> {
      co_await sleep(inner, ms(number));
      co_return number;
    };
    const auto throws = [](int /*a*/, int /*b*/) -> int { throw std::runtime_error("broken"); };
    const Monoid sum{0, throws};
    const std::vector<int> inputs{1, 100'000};
    const Outcome<int> end = co_await outcome(map_reduce(cx, inputs, same, sum));
    EXPECT_TRUE(end.is_panicked());
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(1)));
  });
}

TEST(MapReduce, COM_1_no_input_gives_the_identity_values_may_be_move_only_and_0_calls_at_a_time_is_a_clear_error) {
  using Owned = std::unique_ptr<int>;
  flow_in_lab([](Cx cx) -> Task<void> {
    const auto doubles = [](Cx /*cx*/, Owned value) -> Task<Owned> {
      *value *= 2;
      co_return value;
    };
    const auto plus = [](Owned a, const Owned& b) {
      *a += *b;
      return a;
    };
    Monoid<Owned, decltype(plus)> first{std::make_unique<int>(0), plus};
    std::vector<Owned> inputs;
    for (const int number : {1, 2, 3}) inputs.push_back(std::make_unique<int>(number));
    const Owned sum = co_await map_reduce(cx, std::move(inputs), doubles, std::move(first));
    EXPECT_EQ(*sum, 12);
    Monoid<Owned, decltype(plus)> second{std::make_unique<int>(7), plus};
    const Owned none = co_await map_reduce(cx, std::vector<Owned>(), doubles, std::move(second));
    EXPECT_EQ(*none, 7);
    Monoid<Owned, decltype(plus)> third{std::make_unique<int>(7), plus};
    const MapReduceOptions zero{.parallel = 0};
    const Outcome<Owned> end = co_await outcome(map_reduce(cx, std::vector<Owned>(), doubles, std::move(third), zero));
    expect_flow_error(end, Errc::invalid_argument, "[COM-1]");
  });
}

// --- pipeline ---

/// Where each parcel is at the end, by number: made once, and delivered or gone once. Plain numbers: counting commutes, so
/// schedules that differ in nothing else need not be told apart.
struct Depot {
  std::array<int, 8> made{};
  std::array<int, 8> delivered{};
  std::array<int, 8> gone{};
  std::uint32_t out = 0;  // made, and neither delivered nor gone yet
  std::uint32_t most = 0;
};

class Parcel {
 public:
  Parcel(Depot& depot, std::size_t number) : depot_(&depot), number_(number) {
    ++depot.made.at(number);
    if (++depot.out > depot.most) depot.most = depot.out;
  }
  Parcel(Parcel&& other) noexcept : depot_(std::exchange(other.depot_, nullptr)), number_(other.number_) {}
  Parcel& operator=(Parcel&&) = delete;
  ~Parcel() {
    if (depot_ != nullptr) leave(depot_->gone);
  }
  void deliver() && { leave(depot_->delivered); }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  void leave(std::array<int, 8>& where) {
    ++where.at(number_);
    --std::exchange(depot_, nullptr)->out;
  }
  Depot* depot_;
  std::size_t number_;
};

/// What a program of parcels looks like, and what goes wrong in it.
struct Freight {
  std::size_t parcels = 2;
  std::uint32_t parallel = 1;
  std::size_t fails_at = 99;   // the stage in the middle fails at this parcel
  std::size_t enough_at = 99;  // the last stage needs no more after this one
};

struct MakesParcels {
  Depot* depot;
  std::size_t count;

  Task<void> operator()(Cx cx, channel::Sender<Parcel> out) const {
    for (std::size_t number = 0; number < count; ++number) {
      const channel::Sent<Parcel> sent = co_await out.send(cx, Parcel(*depot, number));
      if (!sent) break;  // the parcel came back, and goes with its frame
    }
  }
};
struct ChecksParcel {
  std::size_t fails_at;

  Task<Parcel> operator()(Cx cx, Parcel parcel) const {
    co_await yield(cx);
    if (parcel.number() == fails_at) co_await fail(Errc::io);
    co_return parcel;
  }
};
struct DeliversParcels {
  lab::Shared<std::size_t>* last;
  lab::Shared<bool>* in_order;
  std::size_t enough_at;

  Task<void> operator()(Cx cx, channel::Receiver<Parcel> in) const {
    while (true) {
      std::optional<Parcel> parcel = co_await in.next(cx);
      if (!parcel) break;
      const std::size_t number = parcel->number();
      if (number < last->get(cx)) in_order->set(cx, false);
      last->set(cx, number);
      std::move(*parcel).deliver();
      if (number == enough_at) break;
    }
  }
};

template <Freight freight>
Task<void> shipped(Cx cx) {
  Depot depot;
  lab::Shared<std::size_t> last(cx, 0);
  lab::Shared<bool> in_order(cx, true);
  const PipelineOptions options{.capacity = 1};
  const StageOptions side_by_side{.parallel = freight.parallel};
  const Outcome<void> end =
      co_await outcome(pipeline(cx, options, produce<Parcel>(MakesParcels{&depot, freight.parcels}),
                                each(ChecksParcel{freight.fails_at}, side_by_side),
                                through<void>(DeliversParcels{&last, &in_order, freight.enough_at})));
  // The ledger: each was made once at most, and what was made is delivered or gone, once.
  std::size_t delivered = 0;
  for (std::size_t number = 0; number < 8; ++number) {
    const int made = depot.made.at(number);
    const int ended = depot.delivered.at(number) + depot.gone.at(number);
    if (made > 1 || made != ended) co_await fail(Errc::protocol);
    delivered += static_cast<std::size_t>(depot.delivered.at(number));
  }
  if (depot.out != 0 || (freight.parallel == 1 && !in_order.get(cx))) co_await fail(Errc::protocol);
  // One in the hand of the first stage, one in each channel, `parallel` in the middle, one in the hand of the last.
  if (depot.most > 4 + freight.parallel) co_await fail(Errc::full);
  if (end.is_panicked()) co_await fail(Errc::conflict);
  if (end.is_cancelled() || cx.is_cancelled()) co_return;
  const bool fails = freight.fails_at < freight.parcels;
  if (end.is_err() != fails || (fails && end.error().code() != Errc::io)) co_await fail(Errc::conflict);
  if (!fails && freight.enough_at == 99 && delivered != freight.parcels) co_await fail(Errc::busy);
}

TEST(Pipeline, COM_1_every_value_arrives_once_and_in_order_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 1}>), 1U);
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 2}>), 2U);
}

TEST(Pipeline, COM_1_a_stage_may_work_on_several_values_and_none_is_lost_in_any_schedule) {
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 2, .parallel = 2}>), 2U);
}

TEST(Pipeline, I5_a_failure_drains_all_stages_and_every_value_is_accounted_for_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 2, .fails_at = 0}>), 2U);
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 2, .fails_at = 1}>), 2U);
}

TEST(Pipeline, COM_1_a_stage_that_needs_no_more_ends_the_stages_before_it_without_a_failure_in_every_schedule) {
  EXPECT_GE(contest::explore_all_of(shipped<Freight{.parcels = 3, .enough_at = 0}>), 2U);
}

TEST(Pipeline, I4_a_cancel_at_any_await_point_loses_count_of_no_value) {
  contest::strike_and_count(shipped<Freight{.parcels = 3}>, 3);
  contest::strike_and_count(shipped<Freight{.parcels = 3, .parallel = 2}>, 3);
  contest::strike_and_count(shipped<Freight{.parcels = 3, .fails_at = 1}>, 3);
}

TEST(Pipeline, COM_1_a_slow_stage_holds_up_those_before_it) {
  flow_in_lab([](Cx cx) -> Task<void> {
    int made = 0;
    std::vector<int> ahead;
    const auto makes = [&](Cx inner, channel::Sender<int> out) -> Task<void> {
      for (int number = 1; number <= 6; ++number) {
        made = number;
        (void)co_await out.send(inner, number);
      }
    };
    const auto slow = [&](Cx inner, int number) -> Task<void> {
      co_await sleep(inner, ms(10));
      ahead.push_back(made - number);
    };
    const PipelineOptions options{.capacity = 2};
    co_await pipeline(cx, options, produce<int>(makes), each(slow));
    const std::vector<int> expected{3, 3, 3, 2, 1, 0};
    for (const int count : ahead) EXPECT_LE(count, 3) << "two are queued, one is in the hand of who sends";
    if (in_lab()) {
      EXPECT_EQ(ahead, expected);
    }
    EXPECT_TRUE(comes_at(cx.now(), Time() + ms(60)));
  });
}

Task<int> square_later(Cx cx, int number) {
  co_await sleep(cx, ms(10 - number));
  const int square = number * number;
  co_return square;
}

Task<void> pair_up(Cx cx, channel::Receiver<int> in, channel::Sender<std::string> out) {
  while (true) {
    const std::optional<int> first = co_await in.next(cx);
    if (!first) break;
    const std::optional<int> second = co_await in.next(cx);
    std::string text = std::to_string(*first) + "+" + std::to_string(second.value_or(0));
    (void)co_await out.send(cx, std::move(text));
  }
}

/// Gives: what comes out, with so many squares made at a time.
Task<std::string> pairs_of_squares(Cx cx, std::vector<int> numbers, std::uint32_t at_a_time) {
  std::string all;
  const auto collects = [&](Cx /*cx*/, const std::string& text) -> Task<void> {
    all += text + " ";
    co_return;
  };
  const PipelineOptions options{.capacity = 4};
  const StageOptions stage{.parallel = at_a_time};
  co_await pipeline(cx, options, from(numbers), each(square_later, stage), through<std::string>(pair_up),
                    each(collects));
  co_return all;
}

const std::vector<int> one_to_five{1, 2, 3, 4, 5};

TEST(Pipeline, COM_1_stages_of_every_kind_go_together) {
  flow_in_lab([](Cx cx) -> Task<void> {
    const std::string some = co_await pairs_of_squares(cx, one_to_five, 1);
    EXPECT_EQ(some, "1+4 9+16 25+0 ");
    const std::string none = co_await pairs_of_squares(cx, std::vector<int>(), 1);
    EXPECT_EQ(none, "");
  });
}

TEST(Pipeline, COM_1_a_stage_with_several_at_a_time_gives_in_the_order_in_which_they_are_done) {
  flow_in_lab([](Cx cx) -> Task<void> {
    const std::string all = co_await pairs_of_squares(cx, one_to_five, 5);
    EXPECT_EQ(all, "25+16 9+4 1+0 ");
  });
}

TEST(Pipeline, COM_1_what_throws_in_a_stage_is_thrown_when_all_have_ended) {
  flow_in_lab([](Cx cx) -> Task<void> {
    bool ended = false;
    const auto waits = [&](Cx inner, channel::Sender<int> out) -> Task<void> {
      (void)co_await out.send(inner, 1);
      const Outcome<void> slept = co_await outcome(sleep(inner, ms(1000)));
      ended = slept.is_cancelled();
    };
    const auto throws = [](Cx inner, int /*number*/) -> Task<void> {
      co_await yield(inner);
      throw std::runtime_error("broken");
    };
    const PipelineOptions options{};
    const Outcome<void> end = co_await outcome(pipeline(cx, options, produce<int>(waits), each(throws)));
    EXPECT_TRUE(end.is_panicked());
    EXPECT_TRUE(ended);
  });
}

TEST(Pipeline, COM_1_a_capacity_or_a_stage_of_0_is_a_clear_error) {
  flow_in_lab([](Cx cx) -> Task<void> {
    const auto takes = [](Cx /*cx*/, int /*number*/) -> Task<void> { co_return; };
    const PipelineOptions none{.capacity = 0};
    const std::vector<int> one{1};
    const Outcome<void> narrow = co_await outcome(pipeline(cx, none, from(one), each(takes)));
    expect_flow_error(narrow, Errc::invalid_argument, "PipelineOptions::capacity");
    const PipelineOptions options{};
    const StageOptions nobody{.parallel = 0};
    const Outcome<void> idle = co_await outcome(pipeline(cx, options, from(one), each(takes, nobody)));
    expect_flow_error(idle, Errc::invalid_argument, "StageOptions::parallel");
  });
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
