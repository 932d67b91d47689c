#include "tests/model/interleave.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <sstream>
#include <utility>

#include "calm/check/report.hpp"
#include "tests/model/fiber.hpp"

namespace calm::interleave {
namespace detail {
namespace {

/// The decisions of an execution in their order; next() goes depth first to the following execution.
class Decisions {
 public:
  void restart() { at_ = 0; }

  /// Gives: a number below `count`; no value when the program did something else than last time at this place.
  std::optional<std::size_t> decide(std::size_t count) {
    if (count == 1) return 0;
    if (at_ == taken_.size()) taken_.push_back({.chosen = 0, .count = count});
    if (taken_[at_].count != count) return std::nullopt;
    return taken_[at_++].chosen;
  }

  /// Gives: whether the execution that ended came as far as the one before it went.
  bool complete() const { return at_ == taken_.size(); }

  bool next() {
    while (!taken_.empty() && taken_.back().chosen + 1 == taken_.back().count) taken_.pop_back();
    if (taken_.empty()) return false;
    ++taken_.back().chosen;
    return true;
  }

 private:
  struct Decision {
    std::size_t chosen;
    std::size_t count;
  };
  std::vector<Decision> taken_;
  std::size_t at_ = 0;
};

struct Turn {
  std::size_t thread;
  bool spurious = false;

  friend bool operator==(const Turn&, const Turn&) = default;
};

/// Runs executions one after another and answers the operations of the threads in them.
class Engine {
 public:
  Engine(const MakeProgram& make, const Options& options) : make_(make), options_(options) { current = this; }
  ~Engine() { current = nullptr; }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  Report explore();
  Report replay(const std::string& schedule);

  // Asked by operations; `running_` is nullptr outside of logical threads.
  void wait_for_turn() {
    if (running_ != nullptr) running_->fiber->leave();
  }
  void wait_for_change();
  bool fails_spuriously();
  void value_changed();
  std::uint64_t name_word() { return words_++; }
  bool telling() const { return story_ != nullptr && running_ != nullptr; }
  void tell(const std::string& line) { *story_ << line; }
  char running_name() const { return static_cast<char>('A' + (running_ - threads_.data())); }

  static thread_local Engine* current;

 private:
  // A failed CALM_REQUIRE or CALM_INVARIANT ends the program, often in a noexcept function: the schedule goes out before.
  static void show_schedule(const check::Report& report) {
    std::fprintf(stderr, "%.*s  schedule: %s\n", static_cast<int>(report.text().size()), report.text().data(),
                 current->schedule().c_str());
  }

  struct Thread {
    std::unique_ptr<Fiber> fiber;
    std::function<void()> body;
    bool finished = false;
    bool paused = false;
    bool news = false;  // another thread changed a word since the last pause
  };

  void run_once();
  void run_threads();
  void prepare(std::vector<std::function<void()>> bodies);
  void run_body(Thread& thread);
  void resume(Thread& thread);
  std::vector<std::size_t> candidates() const;
  std::optional<std::size_t> choose_thread(const std::vector<std::size_t>& from);
  std::size_t decide(std::size_t count);
  void fail(const std::string& what) {
    if (failure_.empty()) failure_ = what;
  }
  std::string schedule() const;

  check::ScopedHandler handler_{&Engine::show_schedule};
  const MakeProgram& make_;
  const Options& options_;
  Decisions decisions_;
  std::optional<std::vector<Turn>> given_;  // the schedule to replay
  std::ostringstream* story_ = nullptr;

  // of one execution
  std::vector<Thread> threads_;
  Thread* running_ = nullptr;
  std::vector<Turn> turns_;
  std::uint64_t preemptions_ = 0;
  std::uint64_t spurious_ = 0;
  std::uint64_t words_ = 0;
  std::string failure_;
};

thread_local Engine* Engine::current = nullptr;

Report Engine::explore() {
  Report report;
  do {
    decisions_.restart();
    run_once();
    ++report.executions;
    report.longest = std::max<std::uint64_t>(report.longest, turns_.size());
    if (!failure_.empty()) {
      report.failure = failure_;
      report.schedule = schedule();
      const Report told = replay(report.schedule);
      report.story = told.story;
      if (told.failure.empty()) report.failure += " (not so when the schedule was run again)";
      return report;
    }
    if (report.executions == options_.max_executions) return report;
  } while (decisions_.next());
  report.exhausted = true;
  return report;
}

Report Engine::replay(const std::string& schedule) {
  std::istringstream tokens(schedule);
  given_.emplace();
  for (std::string token; tokens >> token;) {
    given_->push_back({.thread = static_cast<std::size_t>(token.front() - 'A'), .spurious = token.back() == '!'});
  }
  std::ostringstream story;
  story_ = &story;
  run_once();
  story_ = nullptr;
  return {.executions = 1,
          .longest = turns_.size(),
          .exhausted = false,
          .failure = failure_,
          .schedule = this->schedule(),
          .story = story.str()};
}

void Engine::run_once() {
  turns_.clear();
  failure_.clear();
  preemptions_ = spurious_ = words_ = 0;
  testing::TestPartResultArray expectations;
  try {
    const testing::ScopedFakeTestPartResultReporter collect(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &expectations);
    Program program = make_();
    prepare(std::move(program.threads));
    run_threads();
    if (!given_ && !decisions_.complete()) fail("the program does not repeat itself");
    if (failure_.empty() && expectations.size() == 0) program.check();
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("an exception");
  }
  for (int i = 0; i < expectations.size(); ++i) {
    if (!expectations.GetTestPartResult(i).skipped()) fail(expectations.GetTestPartResult(i).summary());
  }
  if (!failure_.empty()) threads_.clear();  // some may be in the middle
}

void Engine::run_threads() {
  for (Thread& thread : threads_) resume(thread);  // to the first operation
  while (failure_.empty()) {
    const std::vector<std::size_t> ready = candidates();
    if (ready.empty()) {
      if (std::ranges::all_of(threads_, &Thread::finished)) return;
      return fail("deadlock: every thread waits for another one to act");
    }
    if (turns_.size() == options_.max_steps) return fail("livelock: more steps than max_steps");
    const std::optional<std::size_t> chosen = choose_thread(ready);
    if (!chosen) return fail("the schedule does not fit the program at step " + std::to_string(turns_.size() + 1));
    if (!turns_.empty() && turns_.back().thread != *chosen && std::ranges::count(ready, turns_.back().thread) != 0) {
      ++preemptions_;
    }
    turns_.push_back({.thread = *chosen});
    resume(threads_[*chosen]);
    if (given_ && turns_.size() <= given_->size() && turns_.back() != (*given_)[turns_.size() - 1]) {
      return fail("the schedule does not fit the program at step " + std::to_string(turns_.size()));
    }
  }
}

void Engine::prepare(std::vector<std::function<void()>> bodies) {
  threads_.resize(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Thread& thread = threads_[i];
    if (thread.fiber == nullptr) thread.fiber = std::make_unique<Fiber>([this, &thread] { run_body(thread); });
    thread.body = std::move(bodies[i]);
    thread.finished = thread.paused = thread.news = false;
  }
}

void Engine::run_body(Thread& thread) {
  try {
    thread.body();
  } catch (const std::exception& error) {
    fail(error.what());
  } catch (...) {
    fail("an exception");
  }
  thread.finished = true;
}

void Engine::resume(Thread& thread) {
  thread.paused = false;
  running_ = &thread;
  thread.fiber->resume();
  running_ = nullptr;
}

/// Gives: the threads that may take the next step; only the last one when it can go on and no preemption is left.
std::vector<std::size_t> Engine::candidates() const {
  std::vector<std::size_t> ready;
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    if (!threads_[i].finished && (!threads_[i].paused || threads_[i].news)) ready.push_back(i);
  }
  if (!given_ && preemptions_ == options_.max_preemptions && !turns_.empty() &&
      std::ranges::count(ready, turns_.back().thread) != 0) {
    return {turns_.back().thread};
  }
  return ready;
}

std::optional<std::size_t> Engine::choose_thread(const std::vector<std::size_t>& from) {
  if (!given_) return from[decide(from.size())];
  if (turns_.size() >= given_->size()) return from.front();
  const std::size_t wanted = (*given_)[turns_.size()].thread;
  if (std::ranges::count(from, wanted) == 0) return std::nullopt;
  return wanted;
}

std::size_t Engine::decide(std::size_t count) {
  const std::optional<std::size_t> decision = decisions_.decide(count);
  if (!decision) fail("the program does not repeat itself");
  return decision.value_or(0);
}

void Engine::wait_for_change() {
  if (running_ == nullptr) return;
  running_->paused = !std::exchange(running_->news, false);
  if (running_->paused) {
    running_->fiber->leave();
    running_->news = false;
  }
}

bool Engine::fails_spuriously() {
  if (running_ == nullptr || turns_.empty()) return false;
  if (given_) {
    turns_.back().spurious = turns_.size() <= given_->size() && (*given_)[turns_.size() - 1].spurious;
  } else if (spurious_ < options_.max_spurious) {
    turns_.back().spurious = decide(2) == 1;
  }
  if (turns_.back().spurious) ++spurious_;
  return turns_.back().spurious;
}

void Engine::value_changed() {
  for (Thread& thread : threads_) thread.news = thread.news || &thread != running_;
}

std::string Engine::schedule() const {
  std::string text;
  for (const Turn& turn : turns_) {
    if (!text.empty()) text += ' ';
    text += static_cast<char>('A' + turn.thread);
    if (turn.spurious) text += '!';
  }
  return text;
}

}  // namespace

Report explore(const MakeProgram& make, const Options& options) { return Engine(make, options).explore(); }
Report replay(const std::string& schedule, const MakeProgram& make, const Options& options) {
  return Engine(make, options).replay(schedule);
}

void wait_for_turn() noexcept {
  if (Engine::current != nullptr) Engine::current->wait_for_turn();
}
void wait_for_change() noexcept {
  if (Engine::current != nullptr) Engine::current->wait_for_change();
}
bool fails_spuriously() noexcept { return Engine::current != nullptr && Engine::current->fails_spuriously(); }
void value_changed() noexcept {
  if (Engine::current != nullptr) Engine::current->value_changed();
}
std::uint64_t name_word() noexcept { return Engine::current != nullptr ? Engine::current->name_word() : 0; }
bool telling() noexcept { return Engine::current != nullptr && Engine::current->telling(); }
void tell(const char* operation, std::uint64_t word, const std::string& before, const std::string& after) {
  Engine& engine = *Engine::current;
  const std::string values = before == after ? before : before + " -> " + after;
  engine.tell(std::string("    ") + engine.running_name() + " " + operation + " w" + std::to_string(word) + " " +
              values + "\n");
}

}  // namespace detail

std::ostream& operator<<(std::ostream& out, const Report& report) {
  if (report.failure.empty()) {
    return out << report.executions << " executions, longest " << report.longest << " steps"
               << (report.exhausted ? "" : ", not exhausted");
  }
  return out << "calm: execution " << report.executions << " failed: " << report.failure
             << "\n  schedule: " << report.schedule << "\n  steps:\n"
             << report.story << "  next:     replay<State>(\"" << report.schedule << "\", threads, check)\n";
}

}  // namespace calm::interleave
