#include "calm/explore/threads.hpp"

#include <algorithm>
#include <exception>

#include "calm/check/require.hpp"
#include "calm/explore/word.hpp"

namespace calm::explore {
namespace {

// The explorer runs on one thread; several of them may explore at the same time.
thread_local Threads* current_threads = nullptr;

/// Makes a program the current one while its code runs.
class Current {
 public:
  explicit Current(Threads* threads) noexcept : before_(std::exchange(current_threads, threads)) {}
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
  ~Current() { current_threads = before_; }

 private:
  Threads* before_;
};

constexpr std::uint32_t locations_per_thread = 1U << 24U;
constexpr std::uint32_t accesses_to_leave = 10'000;
constexpr std::uint32_t accesses_at_a_time = 64;  // so that who spins does not keep others from coming to their end
constexpr std::uint32_t reads_to_be_sure = 1'000;
constexpr Process setup_process = process_max;  // owns the locations that are made before the threads run

}  // namespace

Threads::Threads(Setup setup, const Machine& machine) : setup_(std::move(setup)), machine_(machine) {
  if (machine.memory == MemoryModel::release_acquire) memory_ = std::make_unique<Stores>();
  set_branches(memory_ != nullptr || machine.spurious_failures != 0);
}

Threads::~Threads() { leave_run(); }

Threads* Threads::current() noexcept { return current_threads; }

Process Threads::run(std::function<void()> body, std::string name) {
  CALM_REQUIRE(LAB_8, running_ == nullptr && count_ < process_max, count_);
  if (count_ == threads_.size()) threads_.push_back(std::make_unique<Thread>());
  Thread& thread = at(count_);
  thread.body = std::move(body);
  thread.name = std::move(name);
  thread.round.clear();
  thread.awaited.clear();
  thread.waited_for.clear();
  thread.locations = 0;
  thread.failures = 0;
  thread.way = 0;
  thread.process = static_cast<Process>(count_);
  thread.accessed = false;
  thread.ended = false;
  thread.owner = this;
  return static_cast<Process>(count_++);
}

void Threads::check(bool holds, std::string_view problem) {
  if (holds || leaving_ || !problem_.empty()) return;
  problem_ = problem;
  if (running_ == nullptr) return;
  running_->access = {};  // the last one may have waited for something that is gone by now
  running_->fiber.leave();
}

void Threads::be_patient(std::uint32_t reads) {
  CALM_REQUIRE(LAB_5, reads >= 16, reads);
  spins_.be_patient(reads);
}

Location Threads::new_location() noexcept {
  if (running_ == nullptr) return setup_process * locations_per_thread + locations_++;
  return running_->process * locations_per_thread + running_->locations++;
}

void Threads::await_turn() noexcept {
  Thread& thread = *running_;
  thread.accessed = true;
  if (!thread.awaited.empty()) thread.access.kind = StepKind::free;
  if (leaving_ && can_go_on(thread) && accesses_left_ != 0) {
    --accesses_left_;
    thread.awaited.clear();
    return;
  }
  // Nothing after a switch: a return there is one that the processor did not foresee.
  if (repeated_ != nullptr) {
    Thread* const next = next_repeated();
    if (next == &thread) return;
    if (next != nullptr) {
      running_ = next;
      return thread.fiber.pass_to(next->fiber);
    }
  }
  thread.fiber.leave();
}

void Threads::pause() noexcept {
  if (running_ == nullptr) return;
  Thread& thread = *running_;
  if (!thread.accessed) {
    check(false, "a thread waits in a loop that reads no atomic: what it waits for cannot be seen");
    thread.access = {.can_go_on = [](const void*) { return false; }};
    thread.fiber.leave();
  }
  thread.accessed = false;
  thread.awaited.clear();
  for (const Seen& seen : thread.round) {
    std::erase_if(thread.awaited, [&seen](const Seen& earlier) { return earlier.word == seen.word; });
    thread.awaited.push_back(seen);
  }
  thread.round.clear();
}

/// It is the thread's turn, and something it waited for is another. Where loads have a choice, it sees one of these changes.
void Threads::begin_access(Thread& thread) {
  for (const Seen& seen : thread.awaited) touch(Touch::read(seen.word->location_));
  for (const Seen& seen : thread.awaited) {
    if (memory_ == nullptr) break;
    const Way ways = ways_seeing(thread, seen);
    if (thread.way < ways) {
      see_change(thread, seen);
      break;
    }
    thread.way = static_cast<Way>(thread.way - ways);
  }
  thread.waited_for.swap(thread.awaited);
  thread.awaited.clear();
}

/// Gives: the ways of the access of a thread that has seen this change; none when there is no change.
Way Threads::ways_seeing(Thread& thread, const Seen& seen) {
  if (next_change(seen) == 0) return 0;
  const Stores::Stamp oldest = memory_->oldest(thread.process, seen.word->history_);
  see_change(thread, seen);
  const Way ways = ways_of_access(thread);
  memory_->set_oldest(thread.process, seen.word->history_, oldest);
  return ways;
}

void Threads::see_change(const Thread& thread, const Seen& seen) {
  const Stores::History history = seen.word->history_;
  memory_->set_oldest(thread.process, history, std::max(memory_->oldest(thread.process, history), next_change(seen)));
}

Way Threads::ways_of_access(const Thread& thread) {
  return thread.access.ways == nullptr ? Way{1} : thread.access.ways(*this, thread.process, thread.access.word);
}

Way Threads::ways(Process process) {
  Thread& thread = at(process);
  if (memory_ == nullptr || thread.awaited.empty()) return ways_of_access(thread);
  Way all = 0;
  for (const Seen& seen : thread.awaited) all = static_cast<Way>(all + ways_seeing(thread, seen));
  return all;
}

Stores::History Threads::history_of(const Word& word) {
  if (word.history_ == 0) word.history_ = memory_->add(word.bits_);
  return word.history_;
}

bool Threads::has_changed(const Seen& seen) const noexcept {
  return memory_ == nullptr ? seen.word->bits_ != seen.bits : next_change(seen) != 0;
}

/// Gives: the first store after the one that was seen that wrote something else; 0 when there is none.
Stores::Stamp Threads::next_change(const Seen& seen) const {
  const Stores::History history = seen.word->history_;
  for (Stores::Stamp stamp = seen.stamp + 1; stamp <= memory_->newest(history); ++stamp) {
    if (memory_->bits(history, stamp) != seen.bits) return stamp;
  }
  return 0;
}

bool Threads::is_let_go_on(const Thread& thread) const noexcept {
  if (!thread.awaited.empty() && std::none_of(thread.awaited.begin(), thread.awaited.end(),
                                              [this](const Seen& seen) { return has_changed(seen); })) {
    return false;
  }
  return thread.access.can_go_on == nullptr || thread.access.can_go_on(thread.access.word);
}

void Threads::run_body(void* context) {
  Thread& thread = *static_cast<Thread*>(context);
  {
    std::string thrown;
    try {
      thread.body();
    } catch (const std::exception& exception) {
      thrown = std::string("a thread threw: ") + exception.what();
    } catch (...) {
      thrown = "a thread threw something that is no std::exception";
    }
    // Not in a handler: which exceptions are being handled is a matter of the real thread.
    thread.owner->check(thrown.empty(), thrown);
  }
  thread.ended = true;
  Threads& threads = *thread.owner;
  Thread* const next = threads.repeated_ == nullptr ? nullptr : threads.next_repeated();
  if (next != nullptr) threads.running_ = next;
  thread.fiber.finish(next == nullptr ? nullptr : &next->fiber);
}

void Threads::resume(Process process) noexcept {
  const Current current(this);
  running_ = &at(process);
  running_->fiber.resume();
  running_ = nullptr;
}

/// Lets every thread run on, without asking anyone, so that what is on its stack is ended. One that is blocked for ever, or
/// does not come to an end, is forgotten as it stands.
void Threads::leave_run() noexcept {
  leaving_ = true;
  std::uint32_t left = accesses_to_leave;
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::uint32_t i = 0; i < count_ && left != 0; ++i) {
      if (at(i).ended || !can_go_on(at(i))) continue;
      const std::uint32_t some = std::min(left, accesses_at_a_time);
      accesses_left_ = some - 1;  // it makes the one it stands at without asking
      at(i).awaited.clear();
      resume(static_cast<Process>(i));
      left -= some - accesses_left_;
      moved = true;
    }
  }
  const Current current(this);
  for (std::uint32_t i = 0; i < count_; ++i) at(i).body = nullptr;
  at_end_ = nullptr;
  while (!kept_.empty()) kept_.pop_back();
  count_ = 0;
  leaving_ = false;
}

void Threads::restart() {
  leave_run();
  locations_ = 0;
  deadlock_allowed_ = false;
  problem_.clear();
  touched_ = nullptr;
  spins_.restart();
  sleepers_.clear();
  if (memory_ != nullptr) memory_->restart();
  {
    const Current current(this);
    setup_(*this);
  }
  for (std::uint32_t i = 0; i < count_; ++i) {
    at(i).fiber.reset(&Threads::run_body, &at(i));
    resume(static_cast<Process>(i));
  }
}

ProcessSet Threads::enabled() {
  ProcessSet set;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!at(i).ended && can_go_on(at(i))) set.add(static_cast<Process>(i));
  }
  return ProcessSet(set.bits() & ~spins_.waiting().bits());
}

ProcessSet Threads::blocked() {
  ProcessSet set;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (!at(i).ended && !can_go_on(at(i))) set.add(static_cast<Process>(i));
  }
  return ProcessSet(set.bits() | spins_.waiting().bits());
}

StepKind Threads::step(Process process, Footprint& touched) {
  Thread& thread = at(process);
  const StepKind kind = begin_step(thread, touched);
  resume(process);
  end_step(thread, touched);
  return kind;
}

inline StepKind Threads::begin_step(Thread& thread, Footprint& touched) {
  StepKind kind = thread.access.kind;
  if (spins_.has_waited(thread.process)) {
    kind = StepKind::free;  // others let it go on
    spins_.add_awaited(thread.process, touched);
    spins_.go_on(thread.process);
  }
  age_ = 0;
  failed_for_no_reason_ = false;
  touched_ = &touched;
  word_ = "";
  if (!thread.awaited.empty()) begin_access(thread);
  return kind;
}

inline void Threads::end_step(Thread& thread, const Footprint& touched) {
  touched_ = nullptr;
  thread.way = 0;
  if (memory_ != nullptr) {
    thread.waited_for.clear();
    memory_->end_step(thread.process, touched);
  }
  spins_.stepped(thread.process, touched);
}

/// A thread whose turn comes next simply goes on, any other one is switched to at once: nobody else is asked in between.
std::uint32_t Threads::repeat(const Execution& run, std::uint32_t size) {
  if (branches()) return Program::repeat(run, size);
  repeated_ = &run;
  repeated_at_ = 0;
  repeated_end_ = size;
  if (const Thread* const first = begin_repeated()) resume(first->process);
  repeated_ = nullptr;
  touched_ = nullptr;
  return repeated_at_;
}

/// Gives: the thread that takes the next step again; nullptr when there is none, or it cannot.
Threads::Thread* Threads::begin_repeated() {
  if (repeated_at_ == repeated_end_) return nullptr;
  const Process process = (*repeated_)[repeated_at_].process;
  if (process >= count_ || at(process).ended || !can_go_on(at(process))) return nullptr;
  repeats_.clear();
  (void)begin_step(at(process), repeats_);
  return &at(process);
}

/// The thread that runs has taken its step again. Gives: who takes the next one; nullptr when it was not the same step.
Threads::Thread* Threads::next_repeated() {
  const Event& event = (*repeated_)[repeated_at_];
  if (!problem_.empty() || !(repeats_ == event.touched)) return nullptr;
  end_step(*running_, repeats_);
  ++repeated_at_;
  return begin_repeated();
}

void Threads::pending(Process process, Footprint& touched) {
  const Access& access = at(process).access;
  if (spins_.waiting().has(process)) spins_.add_awaited(process, touched);
  touched.add(access.write ? Touch::write(access.location) : Touch::read(access.location));
  for (const Seen& seen : at(process).awaited) touched.read(seen.word->location_);
}

/// Gives: true when it does nothing but repeat itself, as far as anyone cares to look.
bool Threads::spins_for_ever(Process process) {
  Thread& thread = at(process);
  Footprint touched;
  for (std::uint32_t i = 0; i < reads_to_be_sure; ++i) {
    if (thread.ended || !can_go_on(thread) || failed()) return false;
    touched.clear();
    touched_ = &touched;
    resume(process);
    touched_ = nullptr;
    if (!(touched == spins_.repeated(process, i))) return false;
  }
  return true;
}

std::string Threads::never_ending() {
  const ProcessSet spinning = spins_.waiting();
  const ProcessSet waiting(blocked().bits() & ~spinning.bits());
  for (std::uint64_t left = spinning.bits(); left != 0; left &= left - 1) {
    const auto process = static_cast<Process>(std::countr_zero(left));
    if (spins_for_ever(process)) continue;
    if (failed()) return problem_;
    return "step limit: " + name_of(process) +
           " repeated its reads, was taken to wait for a change, and went on by itself [LAB-5]; next: let it look less often, "
           "or say be_patient() in the setup";
  }
  std::string text = "lasso: " + names_of(spinning) + (spinning.size() == 1 ? " repeats its" : " repeat their") +
                     " reads for ever, and nobody is left to write what is read";
  if (!waiting.empty()) text += "; " + names_of(waiting) + (waiting.size() == 1 ? " waits" : " wait") + " for ever";
  return text;
}

std::string Threads::names_of(ProcessSet set) {
  std::string text;
  for (std::uint64_t left = set.bits(); left != 0; left &= left - 1) {
    if (!text.empty()) text += (left & (left - 1)) == 0 ? " and " : ", ";
    text += name_of(static_cast<Process>(std::countr_zero(left)));
  }
  return text;
}

std::string Threads::problem(bool deadlock) {
  if (problem_.empty() && deadlock) {
    const ProcessSet waiting = blocked();
    if (!spins_.waiting().empty()) {
      problem_ = never_ending();
    } else if (!deadlock_allowed_) {
      problem_ = "deadlock: " + names_of(waiting) + (waiting.size() == 1 ? " waits" : " wait") + " for ever";
    }
  }
  if (problem_.empty() && at_end_) {
    const Current current(this);
    at_end_();
  }
  return problem_;
}

std::string Threads::note() {
  if (failed_for_no_reason_) return "fails for no reason";
  if (age_ == 0) return {};
  return age_ == 1 ? "1 store old" : std::to_string(age_) + " stores old";
}

std::string Threads::name_of(Process process) {
  return process < count_ && !at(process).name.empty() ? at(process).name : "thread " + std::to_string(process);
}

Report explore_threads(Threads::Setup setup, const Options& options, const Machine& machine) {
  Threads threads(std::move(setup), machine);
  return explore_optimal(threads, options);
}

}  // namespace calm::explore
