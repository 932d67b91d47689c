// recorded_race.cpp — two workers and a real race: the run is recorded, and the lab makes it again with the same result.
#include <calm/calm.hpp>
#include <calm/lab/follow.hpp>
#include <calm/sched/recorded_run.hpp>

#include <cstddef>
#include <cstdint>
#include <iostream>
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

calm::Task<> bid(calm::Cx cx, calm::channel::Sender<char> sender, char name) {
  std::uint64_t thought = cx.entropy();
  for (int i = 0; i < 6; ++i) {
    thought = think(thought);
    auto permit = co_await sender.reserve(cx);
    const char shown = thought % 2 == 0 ? name : static_cast<char>(name - 'A' + 'a');
    (void)std::move(permit).send(shown);
  }
}

// Two bidders, one auctioneer: the bids stand in `heard` in the order in which they came. Which order that is, the clock, the
// system and two threads decide; it is another one nearly every time.
auto auction(std::string& heard) {
  return [&heard](calm::Cx cx) -> calm::Task<> {
    const auto body = [&heard](calm::Scope& scope) -> calm::Task<> {
      calm::channel::Mpsc<char> ends = co_await calm::channel::mpsc<char>(scope.cx(), 4);
      calm::channel::Sender<char> other = ends.sender;
      (void)co_await scope.spawn(bid, std::move(ends.sender), 'A');
      (void)co_await scope.spawn(bid, std::move(other), 'B');
      for (;;) {
        auto next = co_await ends.receiver.next(scope.cx());
        if (!next) break;
        heard += *next;
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

bool is_heard_again() {
  Kept kept;
  std::string in_production;
  (void)calm::block_on(auction(in_production), {.workers = 2, .record = {.sink = &kept, .program = "auction"}});

  const calm::Outcome<calm::sched::RecordedRun> recorded = calm::sched::read_run(kept.text);
  if (!recorded) return false;
  std::string in_the_lab;
  const calm::lab::LabReport report = calm::lab::follow(recorded.value(), auction(in_the_lab));
  if (!report.is_clean()) std::cout << to_string(report) << '\n';
  return report.is_clean() && in_the_lab == in_production;
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
  int the_same = 0;
  for (int run = 0; run < 50; ++run) the_same += is_heard_again() ? 1 : 0;
  std::cout << "50 auctions on two workers, " << the_same << " of them heard again in the lab, bid for bid\n";
  show_divergence();
}

// [prints]
// prints:
//   50 auctions on two workers, 50 of them heard again in the lab, bid for bid
//   not the same run: expected: task 0 ends with its poll
// [/prints]
