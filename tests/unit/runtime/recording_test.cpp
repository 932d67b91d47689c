// Runs that are recorded, and made again in the lab: the same steps, times, numbers and results.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>

#include "calm/channel/mpsc.hpp"
#include "calm/combinator/never.hpp"
#include "calm/combinator/race.hpp"
#include "calm/cx/blocking.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/injector.hpp"
#include "calm/runtime/runtime.hpp"
#include "calm/sync/mutex.hpp"
#include "calm/sync/select.hpp"
#include "calm/time/timeout.hpp"
#include "tests/unit/runtime/kept_recording.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

constexpr int repeats = 20;

/// Workers, and whether one of them has the words of several.
struct Shape {
  std::uint16_t workers;
  Flavour flavour;
};

class Recording : public testing::TestWithParam<Shape> {
 protected:
  [[nodiscard]] static RunOptions options() {
    return {.workers = GetParam().workers, .flavour = GetParam().flavour, .worth_sharing = Duration()};
  }

  template <class Make>
  static void again_and_again(const Make& make) {
    for (int i = 0; i < repeats && !HasFailure(); ++i) (void)expect_the_same_again(options(), make);
  }
};
INSTANTIATE_TEST_SUITE_P(Workers, Recording,
                         testing::Values(Shape{1, Flavour::automatic}, Shape{1, Flavour::multi_worker},
                                         Shape{2, Flavour::automatic}, Shape{8, Flavour::automatic}),
                         [](const auto& tested) {
                           return std::to_string(tested.param.workers) +
                                  (tested.param.flavour == Flavour::multi_worker ? "_shared" : "");
                         });

// --- programs ---

/// Tasks that write their names in turns, on whichever worker.
auto writers(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      for (std::uint64_t name = 0; name < 4; ++name) {
        (void)co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
          for (int i = 0; i < 8; ++i) {
            log.push_back(name);
            burn();
            co_await yield(inner);
          }
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_tasks_that_take_turns_take_them_again) { again_and_again(writers); }

Task<void> send_some(Cx cx, channel::Sender<std::uint64_t> sender, std::uint64_t first) {
  for (std::uint64_t i = 0; i < 10; ++i) {
    burn(std::chrono::microseconds(5));
    auto permit = co_await sender.reserve(cx);
    (void)std::move(permit).send(first + i);
  }
}

/// Messages of three senders, in the order in which they come.
auto messages(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      channel::Mpsc<std::uint64_t> ends = co_await channel::mpsc<std::uint64_t>(scope.cx(), 2);
      for (std::uint64_t i = 0; i < 3; ++i) {
        channel::Sender<std::uint64_t> sender = ends.sender;
        (void)co_await scope.spawn(send_some, std::move(sender), 100 * i);
      }
      {
        const channel::Sender<std::uint64_t> last = std::move(ends.sender);
      }
      for (;;) {
        auto message = co_await ends.receiver.next(scope.cx());
        if (!message) break;
        log.push_back(*message);
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_messages_come_in_the_same_order_again) { again_and_again(messages); }

/// Sleeps of drawn lengths, with the times at which they ended.
auto sleepers(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      for (std::uint64_t name = 0; name < 6; ++name) {
        (void)co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
          for (int i = 0; i < 4; ++i) {
            const std::uint64_t drawn = inner.entropy() % 300;
            co_await sleep(inner, Duration::microseconds(static_cast<std::int64_t>(drawn)));
            log.push_back(name);
            log.push_back(drawn);
            log.push_back(inner.now().ns());
          }
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_TMR_3_alarms_go_off_again_at_the_times_they_did) { again_and_again(sleepers); }

/// Work that is cancelled by timeouts, races, deadlines and its siblings.
auto cancels(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto work = [&log](Cx inner, std::uint64_t name, Duration length) -> Task<std::uint64_t> {
      co_await sleep(inner, length);
      log.push_back(name);
      co_return name;
    };
    const auto body = [&log, &work](Scope& scope) -> Task<int> {
      for (std::int64_t i = 0; i < 4; ++i) {
        (void)co_await scope.spawn([&log, &work, i](Cx inner) -> Task<void> {
          const Duration length = Duration::microseconds(50 + 40 * i);
          const auto late =
              co_await outcome(timeout(inner, Duration::microseconds(120), work, std::uint64_t{1}, length));
          log.push_back(static_cast<std::uint64_t>(late.kind()));
          const std::uint64_t first = co_await race(inner, work(inner, 2, length), work(inner, 3, length));
          log.push_back(10 + first);
        });
      }
      auto cancelled_one = co_await scope.spawn([&log](Cx inner) -> Task<void> {
        const Outcome<void> end = co_await outcome(sleep(inner, Duration::seconds(1000)));
        log.push_back(static_cast<std::uint64_t>(end.kind()));
        co_await yield(inner);
      });
      co_await sleep(scope.cx(), Duration::microseconds(200));
      cancelled_one.cancel();
      const Outcome<void> end = co_await outcome(std::move(cancelled_one).join(scope.cx()));
      log.push_back(20 + static_cast<std::uint64_t>(end.kind()));
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_CAN_7_what_was_cancelled_is_cancelled_again_where_it_was) { again_and_again(cancels); }

/// A task that runs into its deadline while it works.
auto deadlines(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      for (std::uint64_t name = 0; name < 3; ++name) {
        (void)co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
          for (std::uint64_t i = 0; i < 1000; ++i) {
            log.push_back(1000 * name + i);
            burn();
            co_await yield(inner);
          }
        });
      }
      co_return 0;
    };
    const Time until = cx.now() + Duration::microseconds(400);
    const auto end = co_await outcome(scope(cx, body, {.budget = {.deadline = until}}));
    log.push_back(static_cast<std::uint64_t>(end.kind()));
    co_return 0;
  };
}

TEST_P(Recording, SCH_9_BUD_5_a_deadline_comes_again_when_it_came) { again_and_again(deadlines); }

/// Two who want the lock, and one who does not want it for long.
auto lockers(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    Mutex<int> lock(cx, 0);
    const auto body = [&log, &lock](Scope& scope) -> Task<int> {
      for (std::uint64_t name = 0; name < 3; ++name) {
        (void)co_await scope.spawn([&log, &lock, name](Cx inner) -> Task<void> {
          for (int i = 0; i < 6; ++i) {
            auto first = co_await select(inner, lock.lock(inner), sleep(inner, Duration::microseconds(30)));
            auto* const held = std::get_if<0>(&first);
            log.push_back(held == nullptr ? 100 + name : name);
            if (held == nullptr) continue;
            ++**held;
            co_await sleep(inner, Duration::microseconds(20));
          }
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_a_lock_goes_from_hand_to_hand_as_it_did) { again_and_again(lockers); }

/// Calls that block, one of which is withdrawn or waited for.
auto calls(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    const auto body = [&log](Scope& scope) -> Task<int> {
      for (std::uint64_t name = 0; name < 3; ++name) {
        (void)co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
          const auto slow = [name] {
            burn(std::chrono::microseconds(50));
            return 100 + name;
          };
          const std::uint64_t sum = co_await blocking(inner, slow);
          log.push_back(sum);
          const auto until_stopped = [](StopToken stop) {
            while (!stop.is_requested()) std::this_thread::yield();
            return std::uint64_t{7};
          };
          const auto patient = [until_stopped](Cx deeper) -> Task<std::uint64_t> {
            const std::uint64_t seven = co_await blocking(deeper, until_stopped);
            co_return seven;
          };
          const auto end = co_await outcome(timeout(inner, Duration::microseconds(300), patient));
          log.push_back(static_cast<std::uint64_t>(end.kind()));
        });
      }
      co_return 0;
    };
    const int value = co_await scope(cx, body);
    co_return value;
  };
}

TEST_P(Recording, SCH_9_IO_4_calls_that_block_end_again_where_they_did) { again_and_again(calls); }

/// A task whose clean-up is over while its call goes on, and that is forced after it.
auto forced_after_a_call(Log& log) {
  return [&log](Cx cx) -> Task<int> {
    std::atomic<bool> open = false;
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto calls = [&](Cx inner) -> Task<void> {
        const auto hold = [&open] {
          while (!open) std::this_thread::yield();
        };
        co_await blocking(inner, hold);
        log.push_back(1);  // as long as it has time
        co_await checkpoint(inner);
      };
      auto child = co_await scope.fiber(calls);
      co_await sleep(scope.cx(), Duration::milliseconds(1));
      child.cancel();
      co_await sleep(scope.cx(), Duration::milliseconds(10));
      open = true;
      const Outcome<void> end = co_await outcome(std::move(child).join(scope.cx()));
      log.push_back(100 + static_cast<std::uint64_t>(end.kind()));
    };
    (void)co_await outcome(scope(cx, body, {.policy = FoldPolicy::collect, .cleanup_time = Duration::milliseconds(1)}));
    co_return 0;
  };
}

TEST_P(Recording, SCH_9_CAN_8_a_task_that_is_forced_after_its_call_is_so_again) {
  int stalls = 0;
  for (int i = 0; i < 5; ++i) {
    Log recorded;
    Log again;
    testing::internal::CaptureStderr();  // it is reported
    const sched::RecordedRun run = record_run(options(), forced_after_a_call, recorded);
    const std::string told = testing::internal::GetCapturedStderr();
    const lab::LabReport report = lab::follow(run, forced_after_a_call(again));
    EXPECT_EQ(again, recorded);
    EXPECT_EQ(report.end.kind(), run.end);
    const bool stalled = told.find("in a call that is not over") != std::string::npos;
    stalls += stalled ? 1 : 0;
    for (const lab::Problem& problem : report.problems) {
      EXPECT_TRUE(stalled && problem.oracle == lab::Oracle::deadlines) << to_string(report);
    }
    EXPECT_EQ(report.problems.empty(), !stalled) << told << to_string(report);
  }
  EXPECT_GT(stalls, 0);
}

TEST_P(Recording, SCH_9_IO_4_a_call_returns_again_what_it_returned_whatever_it_returns_now) {
  std::uint64_t outside = 1;  // the world that calls look at
  const auto make = [&outside](Log& log) {
    return [&outside, &log](Cx cx) -> Task<int> {
      const auto number = [&outside] { return outside; };
      const auto text = [&outside] { return std::string(outside, 'x'); };
      const std::uint64_t seen = co_await blocking(cx, number);
      log.push_back(seen);
      const std::string read = co_await blocking(cx, text);
      log.push_back(read.size());
      co_return 0;
    };
  };
  Log recorded;
  Log again;
  const sched::RecordedRun run = record_run(options(), make, recorded);
  outside = 5;
  const lab::LabReport report = lab::follow(run, make(again));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(recorded, (Log{1, 1}));
  EXPECT_EQ(again, recorded);
}

TEST_P(Recording, SCH_9_OUT_5_a_program_that_fails_fails_again) {
  const auto make = [](Log& log) {
    return [&log](Cx cx) -> Task<int> {
      const auto body = [&log](Scope& scope) -> Task<int> {
        for (std::uint64_t name = 0; name < 3; ++name) {
          (void)co_await scope.spawn([&log, name](Cx inner) -> Task<void> {
            for (int i = 0; i < 3; ++i) {
              burn();
              co_await yield(inner);
            }
            log.push_back(name);
            co_await fail(Errc::broken_pipe);
          });
        }
        co_await never<>(scope.cx());
        co_return 0;
      };
      const int value = co_await scope(cx, body);
      co_return value;
    };
  };
  for (int i = 0; i < repeats; ++i) EXPECT_EQ(expect_the_same_again(options(), make).end, OutcomeKind::err);
}

// --- from outside ---

TEST_P(Recording, SCH_9_QUI_3_a_shutdown_from_outside_comes_again) {
  const auto make = [](Log& log) {
    return [&log](Cx cx) -> Task<int> {
      for (std::uint64_t i = 0;; ++i) {
        log.push_back(i);
        co_await sleep(cx, Duration::microseconds(100));
      }
    };
  };
  KeptRecording kept;
  Log recorded;
  Log again;
  RunOptions options = Recording::options();
  options.record.sink = &kept;
  Runtime runtime(options);
  std::thread stopper([&runtime] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    while (!runtime.shut_down(Duration::seconds(5))) std::this_thread::yield();
  });
  (void)runtime.block_on(make(recorded));
  stopper.join();
  const sched::RecordedRun run = sched::read_run(kept.text()).value();
  const lab::LabReport report = lab::follow(run, make(again));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(again, recorded);
  EXPECT_EQ(report.end.kind(), OutcomeKind::cancelled);
}

TEST_P(Recording, SCH_9_tasks_of_a_thread_outside_come_again_when_that_thread_does) {
  const auto make = [](Log& log) {
    return [&log](Cx cx) -> Task<int> {
      const auto body = [&log](Scope& scope) -> Task<int> {
        const auto task = [&log](Cx inner, std::uint64_t number) -> Task<std::uint64_t> {
          co_await yield(inner);
          log.push_back(number);
          co_return number;
        };
        std::thread client([door = Injector(scope), task] {
          for (std::uint64_t i = 0; i < 5; ++i) {
            auto handle = door.spawn(task, i);
            (void)std::move(handle).wait();
          }
        });
        while (log.size() < 5) co_await sleep(scope.cx(), Duration::microseconds(200));
        client.join();
        co_return 0;
      };
      const int value = co_await scope(cx, body);
      co_return value;
    };
  };
  (void)expect_the_same_again(options(), make);
}

// --- what a recording is ---

TEST(RecordingFile, SCH_9_a_file_has_the_run_and_its_name) {
  const std::string path = testing::TempDir() + "recording_" + std::to_string(::getpid()) + ".calm";
  Log recorded;
  Log again;
  (void)block_on(writers(recorded), {.workers = 2, .record = {.file = path, .program = "writers"}});
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const sched::RecordedRun run = sched::read_run(text).value();
  EXPECT_EQ(run.program, "writers");
  EXPECT_EQ(run.workers, 2);
  EXPECT_TRUE(run.several);
  const lab::LabReport report = lab::follow(run, writers(again));
  EXPECT_TRUE(report.is_clean()) << to_string(report);
  EXPECT_EQ(again, recorded);
  std::filesystem::remove(path);
}

TEST(RecordingFile, SCH_9_a_file_that_cannot_be_written_is_refused_before_the_run) {
  Log log;
  const Outcome<int> end = block_on(writers(log), {.record = {.file = "/nowhere/at/all.calm"}});
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), Errc::io);
  EXPECT_NE(end.error().message().find("\"/nowhere/at/all.calm\" cannot be written: No such file"), std::string::npos)
      << end.error().message();
  EXPECT_TRUE(log.empty());
}

TEST(RecordingFile, SCH_9_a_name_of_two_words_is_refused) {
  KeptRecording kept;
  Log log;
  const Outcome<int> end = block_on(writers(log), {.record = {.sink = &kept, .program = "two words"}});
  ASSERT_TRUE(end.is_err());
  EXPECT_EQ(end.error().code(), Errc::invalid_argument);
}

TEST(RecordingFile, SCH_9_a_sink_that_is_full_ends_the_recording_and_not_the_run) {
  class Full final : public RecordSink {
   public:
    bool write(std::string_view piece) noexcept override {
      text += piece;
      return text.size() < 400;
    }
    std::string text;
  };
  Full full;
  Log log;
  testing::internal::CaptureStderr();
  const Outcome<int> end = block_on(writers(log), {.record = {.sink = &full, .at_once = true}});
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(end.is_ok());
  EXPECT_EQ(log.size(), 32U);
  EXPECT_EQ(told, "calm: the recording of the run ends here: it cannot be written [SCH-9]; the run goes on\n");
  EXPECT_TRUE(sched::read_run(full.text).is_err());
}

/// Tasks that take turns for so long.
auto racers(Duration length) {
  return [length](Log& log) {
    return [length, &log](Cx cx) -> Task<int> {
      const auto body = [length, &log](Scope& scope) -> Task<int> {
        for (std::uint64_t name = 0; name < 4; ++name) {
          (void)co_await scope.spawn([length, name, &log](Cx inner) -> Task<void> {
            const Time until = inner.now() + length;
            while (inner.now() < until) {
              log.push_back(name);
              burn();
              co_await yield(inner);
            }
          });
        }
        co_return 0;
      };
      const int value = co_await scope(cx, body);
      co_return value;
    };
  };
}

TEST(RecordingFile, SCH_9_a_run_that_two_workers_had_their_part_in_is_followed) {
  // A busy system may let the second one begin late: then the race is longer.
  const auto has_part = [](const sched::RecordedRun& run, std::uint16_t worker) {
    return std::any_of(run.steps.begin(), run.steps.end(),
                       [worker](const sched::RecordedStep& step) { return step.worker == worker; });
  };
  bool both = false;
  for (std::int64_t ms = 1; ms <= 4096 && !both && !testing::Test::HasFailure(); ms *= 2) {
    const sched::RecordedRun run =
        expect_the_same_again({.workers = 2, .worth_sharing = Duration()}, racers(Duration::milliseconds(ms)));
    both = has_part(run, 0) && has_part(run, 1);
  }
  EXPECT_TRUE(both);
}

// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace
}  // namespace calm
