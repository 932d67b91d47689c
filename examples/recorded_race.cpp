// recorded_race.cpp — two workers and a real race: the run is recorded, and the lab makes it again with the same result.
#include <calm/calm.hpp>
#include <calm/lab/follow.hpp>
#include <calm/sched/recorded_run.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// what they refer to outlives the run
namespace {

// [program]
// Some work that keeps a worker busy, so that the other one takes its share.
std::uint64_t think(std::uint64_t number) {
  for (int i = 0; i < 20'000; ++i) number = number * 6364136223846793005U + 1442695040888963407U;
  return number;
}

calm::Task<> bid(calm::Cx cx, calm::channel::Sender<char> sender, char name, int bids) {
  std::uint64_t thought = cx.entropy();
  for (int i = 0; i < bids; ++i) {
    thought = think(thought);
    auto permit = co_await sender.reserve(cx);
    const char shown = (thought >> 63) == 0 ? name : static_cast<char>(name - 'A' + 'a');
    (void)std::move(permit).send(shown);
    co_await calm::yield(cx);
  }
}

// Four bidders, one auctioneer: the bids stand in `heard` in the order in which they came. Which order that is, the clock, the
// system and two threads decide; it is another one nearly every time.
auto auction(std::string& heard, int bids) {
  return [&heard, bids](calm::Cx cx) -> calm::Task<> {
    const auto body = [&heard, bids](calm::Scope& scope) -> calm::Task<> {
      calm::channel::Mpsc<char> ends = co_await calm::channel::mpsc<char>(scope.cx(), 4);
      for (char name = 'A'; name <= 'D'; ++name) {
        calm::channel::Sender<char> sender = ends.sender;
        (void)co_await scope.spawn(bid, std::move(sender), name, bids);
      }
      for (int i = 0; i < 4 * bids; ++i) {
        auto next = co_await ends.receiver.next(scope.cx());
        heard += next.value();
      }
    };
    co_await calm::scope(cx, body);
  };
}
// [/program]

// [record]
/// Keeps a recording in memory; `record.file` writes one to disk.
class Kept final : public calm::RecordSink {
 public:
  bool write(std::string_view piece) noexcept override {
    text += piece;
    return true;
  }
  std::string text;
};

/// A recorded auction, and how it was heard.
struct Auction {
  int bids = 0;  ///< of each bidder
  std::string heard;
  calm::sched::RecordedRun run;
};

// All polls are worth sharing here, short ones too, and the numbers that are drawn are the same every time: when two auctions
// differ, the workers were not equally quick.
Auction hold_auction(int bids) {
  Kept kept;
  Auction held{.bids = bids, .heard = {}, .run = {}};
  calm::RunOptions options{.workers = 2, .seed = 7, .worth_sharing = calm::Duration()};
  options.record = {.sink = &kept, .program = "auction"};
  (void)calm::block_on(auction(held.heard, bids), options);
  held.run = calm::sched::read_run(kept.text).value();
  return held;
}

bool has_polled(const calm::sched::RecordedRun& run, std::uint16_t worker) {
  return std::any_of(run.steps.begin(), run.steps.end(), [worker](const calm::sched::RecordedStep& step) {
    return step.kind == calm::sched::StepKind::poll && step.worker == worker;
  });
}

// A busy system may let the second worker begin when all is over: then the next auction takes longer.
std::optional<Auction> hold_auction_of_two_workers() {
  for (int bids = 16; bids <= 16'384; bids *= 2) {
    Auction held = hold_auction(bids);
    if (has_polled(held.run, 0) && has_polled(held.run, 1)) return held;
  }
  return std::nullopt;
}

bool is_heard_again(const Auction& held) {
  std::string in_the_lab;
  const calm::lab::LabReport report = calm::lab::follow(held.run, auction(in_the_lab, held.bids));
  if (!report.is_clean()) std::cout << to_string(report) << '\n';
  return report.is_clean() && in_the_lab == held.heard;
}
// [/record]

// [divergence]
// A variable that calm does not see decides how often the task yields: the lab cannot make such a run again, and says so.
void show_divergence() {
  int yields = 1;
  const auto program = [&yields](calm::Cx cx) -> calm::Task<> {
    for (int i = 0; i < yields; ++i) co_await calm::yield(cx);
  };
  Kept kept;
  (void)calm::block_on(program, {.workers = 1, .record = {.sink = &kept}});
  yields = 2;
  const calm::lab::LabReport report = calm::lab::follow(calm::sched::read_run(kept.text).value(), program);
  const std::string& text = report.problems.at(0).text;
  const std::size_t at = text.find("expected:");
  std::cout << "not the same run: " << text.substr(at, text.find('\n', at) - at) << '\n';
}
// [/divergence]

}  // namespace
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)

int main() {
  int of_two_workers = 0;
  int heard_again = 0;
  std::map<int, std::set<std::string>> orders;  // of auctions with so many bids
  const auto differ = [](const auto& of_a_length) { return of_a_length.second.size() > 1; };
  // The least that two threads do to each other shows in 50 auctions; where it has not, it goes on, but not for ever.
  for (int held = 0; held < 50 || (held < 500 && std::none_of(orders.begin(), orders.end(), differ)); ++held) {
    const std::optional<Auction> one = hold_auction_of_two_workers();
    if (!one) continue;
    ++of_two_workers;
    heard_again += is_heard_again(*one) ? 1 : 0;
    orders[one->bids].insert(one->heard);
  }
  const bool race = std::any_of(orders.begin(), orders.end(), differ);
  std::cout << (of_two_workers >= 50 ? "50 auctions or more, in each of which both workers polled\n"
                                     : "no second worker\n")
            << (race ? "the same auction was heard in different orders\n" : "there was no race\n")
            << (heard_again == of_two_workers ? "each was heard again in the lab, bid for bid\n" : "some were lost\n");
  for (const auto& [bids, heard] : orders)
    std::clog << "with " << 4 * bids << " bids: " << heard.size() << " different orders\n";
  show_divergence();
}

// [prints]
// prints:
//   50 auctions or more, in each of which both workers polled
//   the same auction was heard in different orders
//   each was heard again in the lab, bid for bid
//   not the same run: expected: task 0 ends with its poll
// [/prints]
