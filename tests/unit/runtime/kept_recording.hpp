// kept_recording.hpp — a recording in memory, and programs that are recorded on workers and made again in the lab.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/lab/follow.hpp"
#include "calm/runtime/run.hpp"
#include "calm/sched/recorded_run.hpp"

namespace calm {

class KeptRecording final : public RecordSink {
 public:
  bool write(std::string_view piece) noexcept override {
    text_ += piece;
    return true;
  }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// What a program notes: while it is recorded one task runs at a time, so it needs no lock.
using Log = std::vector<std::uint64_t>;

/// Keeps its worker busy for so long that others come for the rest of the work.
inline void burn(std::chrono::microseconds time = std::chrono::microseconds(10)) {
  const auto until = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < until) {
  }
}

/// Gives: the recording of a run of `make(log)(cx)` under these options. Fails the test when it cannot be read.
template <class Make>
sched::RecordedRun record_run(RunOptions options, const Make& make, Log& log) {
  KeptRecording kept;
  options.record.sink = &kept;
  (void)block_on(make(log), options);
  auto read = sched::read_run(kept.text());
  EXPECT_TRUE(read.is_ok()) << (read.is_ok() ? std::string() : std::string(read.error().message())) << '\n'
                            << kept.text().substr(0, 2000);
  return read.is_ok() ? std::move(read).value() : sched::RecordedRun();
}

/// Records the program and makes it again. Gives: the recording.
template <class Make>
sched::RecordedRun expect_the_same_again(const RunOptions& options, const Make& make) {
  Log recorded;
  Log again;
  sched::RecordedRun run = record_run(options, make, recorded);
  const lab::LabReport report = lab::follow(run, make(again));
  EXPECT_TRUE(report.is_clean()) << to_string(report) << '\n' << sched::write_run(run).substr(0, 4000);
  EXPECT_EQ(again, recorded);
  EXPECT_EQ(report.end.kind(), run.end);
  return run;
}

}  // namespace calm
