#include "interpreter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "calm/cx/mask.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "token.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters): places stand in frames around those that use them
namespace calm::programs {
namespace {

/// What the program throws.
struct Boom : std::runtime_error {
  Boom() : std::runtime_error("boom") {}
};

struct Child {
  Handle<std::uint32_t> handle;
  TaskNote* note;
};

/// Where a statement stands. It lives in the frame of the statement that made it.
struct Place {
  Journal& journal;
  TaskNote& task;
  Cx cx;
  Scope* scope = nullptr;     ///< the innermost that this task has opened, …
  ScopeNote* note = nullptr;  ///< … or none
  Scope* home = nullptr;      ///< the one that this task is in; none for the first task
  std::vector<Child>& children;
  Purse& purse;
  const Place* outer = nullptr;
  Deadline deadline{};                        ///< of the budget that begins here
  std::uint32_t masks = 0;                    ///< when it began
  mutable bool cancelled = false;             ///< a wait in it was, …
  mutable std::uint32_t cancelled_masks = 0;  ///< … under so many masks

  [[nodiscard]] Place inside(Cx inner) const {
    return {journal, task, inner, scope, note, home, children, purse, this, {}, task.masks};
  }
  /// Gives: one of those that programs have, from now on.
  [[nodiscard]] Budget budget(std::uint32_t number) const {
    const Time now = cx.now();
    return journal.within(budget_of(number, now), now);
  }
  void step(Do what, std::uint64_t result = 0) const { journal.step(task, cx.now(), what, result); }
};

/// Stands beside a wait that only time and cancellation can end otherwise than well.
class WaitMark {
 public:
  explicit WaitMark(const Place& place) noexcept
      : place_(place), began_(place.journal.on_threads() ? place.cx.now() : Time()) {}
  WaitMark(const WaitMark&) = delete;
  WaitMark& operator=(const WaitMark&) = delete;
  ~WaitMark() {
    if (passed_) return;
    place_.cancelled_masks = place_.cancelled ? std::max(place_.cancelled_masks, place_.task.masks) : place_.task.masks;
    place_.cancelled = true;
  }

  /// The wait has ended well: nothing that it is in was cancelled before, or is over.
  void passed() {
    passed_ = true;
    const TaskNote& task = place_.task;
    // Where time goes on by itself only what was over before the wait counts.
    const bool on_threads = place_.journal.on_threads();
    const Time now = on_threads ? began_ : place_.cx.now();
    for (const Place* place = &place_; place != nullptr; place = place->outer) {
      const bool again = place->cancelled && task.masks <= place->cancelled_masks;
      place_.journal.expect(!again, "CAN-7", "goes on after it was told to stop: task", task.number);
      const bool late = place->deadline.reached(now) && task.masks <= place->masks;
      place_.journal.expect(!late, "BUD-5", "goes on after its deadline: task", task.number);
    }
    if (on_threads) return;  // the host tells a task of its own deadline, as soon as it looks
    const bool late = task.deadline.reached(now) && task.masks == 0 && !task.finalizer;
    place_.journal.expect(!late, "BUD-5", "goes on after the deadline of its task: task", task.number);
  }

 private:
  const Place& place_;
  Time began_;
  bool passed_ = false;
};

Task<void> run_block(const Place& place, const Block& block);

// --- waits ---

Task<void> run_yields(const Place& place, std::uint32_t count) {
  const FrameMark frame(place.journal, place.task);
  for (std::uint32_t i = 0; i < count; ++i) {
    if ((place.task.masks != 0) && ++place.task.masked_yields > 800) co_return;  // CAN-12: 1000 polls, then it is off
    WaitMark mark(place);
    co_await yield(place.cx);
    mark.passed();
  }
}

Task<void> run_checkpoint(const Place& place) {
  const FrameMark frame(place.journal, place.task);
  WaitMark mark(place);
  co_await checkpoint(place.cx);
  mark.passed();
}

Task<void> run_sleep(const Place& place, Duration duration) {
  const FrameMark frame(place.journal, place.task);
  WaitMark mark(place);
  const Time start = place.cx.now();
  co_await sleep(place.cx, duration);
  mark.passed();
  place.journal.expect(place.cx.now() >= start + duration, "TMR-3", "woke too early: task", place.task.number);
}

// --- children ---

/// What is spawned.
struct Run {
  Captured captured;
  const Block* block;
  Scope* home;
  bool look;                     ///< at the outcome, before it goes on
  std::shared_ptr<Gift> gift{};  ///< a promise that the spawner made

  Task<std::uint32_t> operator()(Cx cx) {
    Journal& journal = captured.journal();
    TaskNote& task = captured.task();
    const FrameMark frame(journal, task);
    std::vector<Child> children;
    Purse purse(journal, cx);
    const Place place{journal, task, cx, nullptr, nullptr, home, children, purse};
    if (gift != nullptr) purse.adopt(*gift, cx.task());
    if (!look) task.home->failed.add();
    if (look) {
      Outcome<void> end = co_await outcome(run_block(place, *block));
      task.end_known = true;
      task.end = end.kind();
      note_end(*task.home, end.kind());
      co_await std::move(end);
    } else {
      co_await run_block(place, *block);
    }
    place.step(Do::call, task.number);
    co_return task.number;
  }
};

/// What is deferred.
struct Finish {
  Captured captured;
  const Block* block;
  Scope* home;

  /// The one that was registered last runs first, when all else in the scope has ended.
  void begin() const {
    Journal& journal = captured.journal();
    ScopeNote& scope = *captured.task().home;
    const std::uint32_t number = captured.task().number;
    journal.expect(!scope.deferred.empty() && scope.deferred.back() == number, "CTX-4",
                   "is not the newest finalizer: task", number);
    std::erase(scope.deferred, number);
    journal.expect(scope.live_tasks.count() == 0, "REG-5", "runs before the tasks have ended: task", number);
    journal.expect(!scope.body_live, "REG-5", "runs before the body has ended: task", number);
    scope.finalizing = true;
  }

  Task<void> operator()(Cx cx) {
    Journal& journal = captured.journal();
    TaskNote& task = captured.task();
    const FrameMark frame(journal, task);
    begin();
    task.home->failed.add();
    std::vector<Child> children;
    Purse purse(journal, cx);
    const Place place{journal, task, cx, nullptr, nullptr, home, children, purse};
    Outcome<void> end = co_await outcome(run_block(place, *block));
    note_end(*task.home, end.kind());
    co_await std::move(end);
  }
  /// The same without a coroutine.
  void operator()() const {
    begin();
    captured.journal().step(captured.task(), Time(), Do::defer, captured.task().number);
  }
};

/// Starts a child in the innermost scope, or in the one this task is in. Gives: 0, or the number of the error.
std::uint64_t start(const Place& place, const Statement& statement) {
  const bool outside = place.scope == nullptr || (statement.a % 2 == 1 && place.home != nullptr);
  Scope* const scope = outside ? place.home : place.scope;
  ScopeNote* const note = outside ? place.task.home : place.note;
  if (scope == nullptr) return 0;
  TaskNote& task = place.journal.new_task(*note, false);
  const TaskOptions options{.name = "child", .budget = place.budget(statement.b)};
  task.deadline = options.budget.deadline;
  if (!outside) {
    const Place* at = &place;
    while (at->outer != nullptr && at->outer->scope == place.scope) at = at->outer;
    for (; at != nullptr; at = at->outer) task.deadline = std::min(task.deadline, at->deadline);
  }
  const std::shared_ptr<Gift> gift = statement.b % 5 == 4 ? place.purse.give(statement.a) : nullptr;
  Scope* const its_home = place.journal.on_threads() && statement.what != Do::fiber ? nullptr : scope;
  Run run{Captured(place.journal, task), &statement.body, its_home, statement.b % 4 != 3, gift};
  auto made =
      statement.what == Do::fiber ? scope->fiber(options, std::move(run)) : scope->spawn(options, std::move(run));
  if (!made) {
    const Errc code = made.error().code();
    place.journal.expect(place.journal.may_refuse(code), "REG-7", "was refused for no lawful reason: task",
                         task.number);
    return static_cast<std::uint64_t>(code);
  }
  place.journal.expect(!note->finalizing, "REG-6", "was admitted by a scope that finalizes: task", task.number);
  // On threads the callables of those who are refused at the same time count as well.
  const bool within_limit = place.journal.on_threads() || note->live_tasks.count() <= note->task_limit;
  place.journal.expect(within_limit, "REG-8", "was admitted beyond the limit: task", task.number);
  const OwnMemory own;
  place.children.push_back({std::move(made).value(), &task});
  if (gift != nullptr) gift->hand_to(place.children.back().handle.id(), task);
  return 0;
}

/// Takes out one of the children. Needs: there is one.
Child take_child(const Place& place, std::uint32_t which) {
  const auto at = place.children.begin() + static_cast<std::ptrdiff_t>(which % place.children.size());
  Child child = std::move(*at);
  place.children.erase(at);
  return child;
}

void check_join(const Place& place, const TaskNote& child, const Outcome<std::uint32_t>& end) {
  Journal& journal = place.journal;
  if (end.is_cancelled()) return;  // its own end or the child's
  journal.expect(child.callable_gone, "TSK-5", "was joined before it was gone: task", child.number);
  if (end.is_ok()) journal.expect(end.value_or(0) == child.number, "TSK-3", "gave another value: task", child.number);
  if (child.end_known) journal.expect(child.end == end.kind(), "OUT-5", "ended otherwise: task", child.number);
}

Task<void> run_join(const Place& place, const Statement& statement) {
  const FrameMark frame(place.journal, place.task);
  if (place.children.empty()) co_return;
  Child child = take_child(place, statement.a);
  if (statement.b % 2 == 0) {
    const std::uint32_t number = co_await std::move(child.handle).join(place.cx);
    place.journal.expect(number == child.note->number, "TSK-3", "gave another value: task", child.note->number);
    co_return;
  }
  const Outcome<std::uint32_t> end = co_await outcome(std::move(child.handle).join(place.cx));
  check_join(place, *child.note, end);
  place.step(Do::join, static_cast<std::uint64_t>(end.kind()));
}

// --- scopes ---

/// The body of a scope.
struct Body {
  const Place* outer;
  ScopeNote* note;
  const Statement* statement;

  struct Live {
    explicit Live(ScopeNote& live) noexcept : scope(live) { scope.body_live = true; }
    Live(const Live&) = delete;
    Live& operator=(const Live&) = delete;
    ~Live() { scope.body_live = false; }
    ScopeNote& scope;
  };

  Task<void> operator()(Scope& scope) const {
    note->opened = true;
    const Live live(*note);
    const FrameMark frame(outer->journal, outer->task);
    Purse purse(outer->journal, scope.cx());
    const Place place{outer->journal,   outer->task,     scope.cx(), &scope, note,
                      outer->home,      outer->children, purse,      outer,  outer->budget(statement->b).deadline,
                      outer->task.masks};
    Outcome<void> end = co_await outcome(run_block(place, statement->body));
    note_end(*note, end.kind());
    co_await std::move(end);
  }
};

ScopeOptions options_of(const Statement& statement, const Place& place) {
  ScopeOptions options{.policy = statement.a % 2 == 1 ? FoldPolicy::collect : FoldPolicy::fail_fast,
                       .budget = place.budget(statement.b)};
  if (statement.a % 5 == 4) options.limits.tasks = 2;
  if (statement.a % 7 == 6) options.escalation = kernel::Escalation::panic;
  return options;
}

Task<void> run_scope(const Place& place, const Statement& statement) {
  const FrameMark frame(place.journal, place.task);
  ScopeNote& note = place.journal.new_scope(place.note == nullptr ? place.task.home : place.note);
  const ScopeMark mark(place.journal, note);
  const ScopeOptions options = options_of(statement, place);
  note.task_limit = options.limits.tasks;
  const Body body{&place, &note, &statement};
  if (statement.b % 3 != 0) {
    co_await scope(place.cx, body, options);
    co_return;
  }
  Outcome<void> end = co_await outcome(scope(place.cx, body, options));
  place.step(Do::scope, static_cast<std::uint64_t>(end.kind()));
  check_end(place.journal, note, note.opened, end.kind());
  co_await std::move(end);
}

/// Gives: 0, or the number of the error.
std::uint64_t defer(const Place& place, const Statement& statement) {
  if (place.scope == nullptr) return 0;
  TaskNote& task = place.journal.new_task(*place.note, true);
  {
    const OwnMemory own;
    place.note->deferred.push_back(task.number);
  }
  Scope* const its_home = place.journal.on_threads() ? nullptr : place.scope;
  Finish finish{Captured(place.journal, task), &statement.body, its_home};
  const Outcome<void> made =
      statement.what == Do::defer ? place.scope->defer(std::move(finish)) : place.scope->defer_async(std::move(finish));
  if (made) return 0;
  place.journal.expect(place.journal.may_refuse(made.error().code()), "REG-7",
                       "was refused for no lawful reason: finalizer", task.number);
  place.note->deferred.pop_back();
  return static_cast<std::uint64_t>(made.error().code());
}

void cancel_scope(const Place& place, std::uint32_t levels) {
  const Place* at = &place;
  for (; levels != 0 && at->outer != nullptr; --levels) at = at->outer;
  if (at->scope != nullptr) {
    at->scope->cancel("the program says so");
  } else if (place.home != nullptr) {
    place.home->cancel("the program says so");
  }
}

// --- brackets ---

struct Acquire {
  const Place* outer;
  ScopeNote* note;
  std::uint32_t yields;

  Task<std::uint32_t> operator()(Cx cx) const {
    const FrameMark frame(outer->journal, outer->task);
    const Place place = outer->inside(cx);
    co_await run_yields(place, yields);
    ++note->resources;
    co_return note->number;
  }
};

struct Use {
  const Place* outer;
  ScopeNote* note;
  const Block* block;

  Task<void> operator()(Cx cx, std::uint32_t& resource) const {
    const Body::Live live(*note);
    const FrameMark frame(outer->journal, outer->task);
    Purse purse(outer->journal, cx);
    const Place place{outer->journal,  outer->task, cx,    outer->scope, outer->note,      outer->home,
                      outer->children, purse,       outer, {},           outer->task.masks};
    outer->journal.expect(resource == note->number, "CTX-4", "uses another resource: task", outer->task.number);
    co_await run_block(place, *block);
  }
};

struct Release {
  Journal* journal;
  ScopeNote* note;
  std::uint32_t yields;

  Task<void> operator()(Cx cx, std::uint32_t& resource) const {
    journal->expect(resource == note->number && note->resources == 1, "CTX-4", "is released twice: scope",
                    note->number);
    journal->expect(!note->body_live, "CTX-4", "is released while it is used: scope", note->number);
    --note->resources;
    for (std::uint32_t i = 0; i < yields; ++i) co_await yield(cx);
  }
};

Task<void> run_bracket(const Place& place, const Statement& statement) {
  const FrameMark frame(place.journal, place.task);
  ScopeNote& note = place.journal.new_scope(place.note == nullptr ? place.task.home : place.note);
  const ScopeMark mark(place.journal, note);
  const Acquire acquire{&place, &note, statement.a % 3};
  const Use use{&place, &note, &statement.body};
  const Release release{&place.journal, &note, statement.b % 3};
  co_await bracket(place.cx, acquire, use, release);
}

// --- frames around a body ---

struct Masked {
  const Place* outer;
  const Block* block;

  Task<void> operator()(Cx cx) const {
    struct Deeper {
      explicit Deeper(TaskNote& masked) noexcept : task(masked) { ++task.masks; }
      Deeper(const Deeper&) = delete;
      Deeper& operator=(const Deeper&) = delete;
      ~Deeper() { --task.masks; }
      TaskNote& task;
    };
    const FrameMark frame(outer->journal, outer->task);
    const Deeper deeper(outer->task);
    const Place place = outer->inside(cx);
    co_await run_block(place, *block);
  }
};

Task<void> run_masked(const Place& place, const Statement& statement) {
  const FrameMark frame(place.journal, place.task);
  const Masked body{&place, &statement.body};
  if (statement.what == Do::section) {
    co_await commit_section(place.cx, body);
  } else {
    co_await with_cancel_mask(place.cx, body);
  }
}

Task<void> run_attempt(const Place& place, const Block& block) {
  const FrameMark frame(place.journal, place.task);
  const Outcome<void> end = co_await outcome(run_block(place, block));
  place.step(Do::attempt, static_cast<std::uint64_t>(end.kind()));
}

Task<void> run_catching(const Place& place, const Block& block) {
  const FrameMark frame(place.journal, place.task);
  bool caught = false;
  try {
    co_await run_block(place, block);
  } catch (const Boom&) {
    caught = true;
  }
  place.step(Do::catch_panic, caught ? 1 : 0);
}

Task<void> run_narrowed(const Place& place, const Statement& statement) {
  const FrameMark frame(place.journal, place.task);
  const Time now = place.cx.now();
  const Budget budget = statement.what == Do::with_deadline
                            ? Budget{.deadline = now + place.journal.lasting(duration_of(statement.a))}
                            : place.journal.within(budget_of(statement.a, now), now);
  const auto narrowed = place.cx.with_budget(budget);
  Place inner = place.inside(narrowed);
  inner.deadline = budget.deadline;
  place.journal.expect(within(inner.cx.budget(), place.cx.budget()), "BUD-3", "was given more than there is: task",
                       place.task.number);
  co_await run_block(inner, statement.body);
}

Task<void> run_fail(const Place& place, std::uint32_t number) {
  constexpr std::array<Errc, 4> codes{Errc::full, Errc::empty, Errc::io, Errc::conflict};
  const FrameMark frame(place.journal, place.task);
  co_await fail(codes[number % codes.size()]);
}

Task<void> run_panic(const Place& place) {
  const FrameMark frame(place.journal, place.task);
  throw Boom();
  co_return;
}

/// What needs no coroutine. Gives: a number for the log.
std::uint64_t act(const Place& place, const Statement& statement) {
  switch (statement.what) {
    case Do::mark:
      place.cx.trace("mark", place.task.number);
      return place.cx.is_cancelled() ? 1 : 0;
    case Do::spend:
      return place.cx.spend(std::uint64_t{3} * statement.a).is_ok() ? 0 : 1;
    case Do::entropy:
      return place.cx.entropy();
    case Do::cancel_task:
      if (!place.children.empty()) place.children[statement.a % place.children.size()].handle.cancel("not wanted");
      return 0;
    case Do::drop_handle:
      if (!place.children.empty()) (void)take_child(place, statement.a);
      return 0;
    case Do::cancel_scope:
      cancel_scope(place, statement.a % 3);
      return 0;
    case Do::defer:
    case Do::defer_async:
      return defer(place, statement);
    case Do::reserve:
      return place.purse.reserve(statement.a);
    case Do::commit:
      return place.purse.take(statement.a, Purse::End::commit);
    case Do::abort:
      return place.purse.take(statement.a, Purse::End::abort);
    case Do::drop_token:
      return place.purse.take(statement.a, Purse::End::drop);
    case Do::spawn:
    case Do::fiber:
      return start(place, statement);
    case Do::yield:
    case Do::checkpoint:
    case Do::sleep:
    case Do::join:
    case Do::fail:
    case Do::panic:
    case Do::scope:
    case Do::bracket:
    case Do::mask:
    case Do::section:
    case Do::attempt:
    case Do::call:
    case Do::catch_panic:
    case Do::with_deadline:
    case Do::with_budget:
      break;
  }
  return 0;
}

/// What does. Gives: the coroutine.
CALM_CORO_WRAPPER Task<void> waiting(const Place& place, const Statement& statement) {
  const Do what = statement.what;
  if (what == Do::yield) return run_yields(place, statement.a);
  if (what == Do::checkpoint) return run_checkpoint(place);
  if (what == Do::sleep) return run_sleep(place, place.journal.lasting(duration_of(statement.a)));
  if (what == Do::join) return run_join(place, statement);
  if (what == Do::fail) return run_fail(place, statement.a);
  if (what == Do::panic) return run_panic(place);
  if (what == Do::scope) return run_scope(place, statement);
  if (what == Do::bracket) return run_bracket(place, statement);
  if (what == Do::mask || what == Do::section) return run_masked(place, statement);
  if (what == Do::attempt) return run_attempt(place, statement.body);
  if (what == Do::catch_panic) return run_catching(place, statement.body);
  if (what == Do::with_deadline || what == Do::with_budget) return run_narrowed(place, statement);
  return run_block(place, statement.body);
}

Task<void> run_block(const Place& place, const Block& block) {
  const FrameMark frame(place.journal, place.task);
  for (const Statement& statement : block) {
    if (!waits(statement.what)) {
      place.step(statement.what, act(place, statement));
      continue;
    }
    co_await waiting(place, statement);
    place.step(statement.what);
  }
}

}  // namespace

Task<std::uint32_t> interpret(Cx cx, const Program& program, Journal& journal) {
  ScopeNote& world = journal.new_scope(nullptr);
  const ScopeMark mark(journal, world);
  TaskNote& task = journal.new_task(world, false);
  Run run{Captured(journal, task), &program.body, nullptr, true};
  const std::uint32_t number = co_await run(cx);
  co_return number;
}

}  // namespace calm::programs
// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)
