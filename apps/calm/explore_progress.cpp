#include "apps/calm/explore_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>

#include "apps/calm/file.hpp"
#include "apps/calm/refused.hpp"
#include "calm/explore/saved.hpp"
#include "calm/model/text.hpp"

namespace calm::tool {
namespace {

std::atomic<bool> interrupted{false};

/// Gives: `12 s`, `3 min`, `2.5 h`.
std::string time_text(double seconds) {
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Interruptible::Interruptible() noexcept : before_(std::signal(SIGINT, [](int) { interrupted.store(true); })) {}

Interruptible::~Interruptible() { (void)std::signal(SIGINT, before_); }

const std::atomic<bool>& Interruptible::flag() noexcept { return interrupted; }

Progress::Progress(std::uint64_t known, bool always) noexcept
    : known_(known), tells_(always || ::isatty(STDERR_FILENO) != 0) {}

void Progress::ended(const explore::Execution& /*execution*/, bool /*deadlock*/) {
  if (++count_ % 1024 != 0 || !tells_) return;
  const auto now = Clock::now();
  if (now - told_ < std::chrono::seconds(1)) return;
  told_ = now;
  const double rate = static_cast<double>(count_) / std::chrono::duration<double>(now - start_).count();
  const auto all = static_cast<double>(before_ + count_);
  const double total = known_ != 0 ? static_cast<double>(known_) : expected_;
  if (total > all) {
    fmt::print(stderr, "{} of {}{:.0f} executions, {:.0f}/s, about {} left\n", before_ + count_,
               known_ != 0 ? "" : "about ", total, rate, time_text((total - all) / rate));
  } else {
    fmt::print(stderr, "{} executions, {:.0f}/s\n", before_ + count_, rate);
  }
}

explore::Report explore_in_parts(explore::Program& program, const explore::Options& options, Progress& progress,
                                 const std::string& name, const ExploreFiles& files) {
  explore::Saved from;
  if (!files.resume.empty()) {
    auto read = explore::saved_in(read_file(files.resume));
    if (!read) throw Refused{files.resume + ": " + std::string(read.error().message())};
    from = std::move(read).value();
    if (from.program != name) {
      throw Refused{files.resume + " is of " + calm::quoted(from.program) + ", and this is " + calm::quoted(name)};
    }
    progress.begin_at(from.report.executions);
  }
  explore::Saved to;
  explore::Report report = explore_optimal(program, options, &progress, files.resume.empty() ? nullptr : &from, to);
  if (!files.save.empty() && !report.exhausted) {
    to.program = name;
    write_file(files.save, to_text(to));
    fmt::print(stderr, "calm: what is left is in {}; next: the same with --resume {}\n", files.save, files.save);
  }
  return report;
}

}  // namespace calm::tool
