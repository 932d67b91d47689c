#include "examples/catalogue.hpp"

calm::Task<> hello(calm::Cx cx);
calm::Task<> three_children(calm::Cx cx);
calm::Task<> task_tree(calm::Cx cx);
calm::Task<> cancel_with_cleanup(calm::Cx cx);
calm::Task<> budget_runs_out(calm::Cx cx);
calm::Task<> late_answer(calm::Cx cx);
calm::Task<> child_panics(calm::Cx cx);
calm::Task<> bracket_releases(calm::Cx cx);
calm::Task<> promise_kept(calm::Cx cx);
calm::Task<> shared_account(calm::Cx cx);
calm::Task<> plan_critical_path(calm::Cx cx);
calm::Task<> race_drain(calm::Cx cx);
calm::Task<> retry_hedge(calm::Cx cx);
calm::Task<> careful_caller(calm::Cx cx);
calm::Task<> pipeline_backpressure(calm::Cx cx);
calm::Task<> lost_message(calm::Cx cx);
calm::Task<> worker_pool(calm::Cx cx);
calm::Task<> foreign_bell(calm::Cx cx);
calm::Task<> forgotten_promise(calm::Cx cx);

namespace examples {
namespace {

constexpr Example rows[] = {
    {"hello", "the smallest program: one coroutine awaits another", hello},
    {"task_tree", "a task for every node of a tree, each beside the one that starts it", task_tree},
    {"three_children", "a scope with three children that run side by side", three_children},
    {"cancel_with_cleanup", "a scope is cancelled, and cleans up before it is left", cancel_with_cleanup},
    {"budget_runs_out", "a deadline and a cost quota stop what uses them up", budget_runs_out},
    {"late_answer", "a timeout, and ticks that were missed", late_answer},
    {"child_panics", "an exception in a child stops its sibling and arrives above", child_panics},
    {"bracket_releases", "acquire, use, release: released however the use ends", bracket_releases},
    {"promise_kept", "an effect in two halves, and a cancel between them", promise_kept},
    {"shared_account", "a lock around a value, permits for a few at a time, the first of two waits", shared_account},
    {"plan_critical_path", "a plan as data: its critical path, its rewrites with their proof, its run",
     plan_critical_path},
    {"race_drain", "the first of two, the loser drained before the race is over; all of two", race_drain},
    {"retry_hedge", "work done again, late answers asked for again, two votes of three", retry_hedge},
    {"careful_caller", "a task set, a bulkhead, a rate limiter, a circuit breaker, and many calls as one",
     careful_caller},
    {"pipeline_backpressure", "a fast stage in front of a slow one, and one that fails", pipeline_backpressure},
    {"lost_message", "a message and a timeout at the same moment, and no message is lost", lost_message},
    {"worker_pool", "jobs with acknowledgements: what a cancelled worker had, another one gets", worker_pool},
    {"foreign_bell", "an awaitable and a callback of other libraries, and what a cancel does to them", foreign_bell},
    {"forgotten_promise", "a bug that one thread hides and the lab finds: run it with --lab --seeds 20",
     forgotten_promise},
};

}  // namespace

std::span<const Example> all() noexcept { return rows; }

std::vector<std::string_view> names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(rows));
  for (const Example& row : rows) names.push_back(row.name);
  return names;
}

const Example* find(std::string_view name) noexcept {
  for (const Example& row : rows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace examples
