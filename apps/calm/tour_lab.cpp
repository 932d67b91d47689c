#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "apps/calm/commands.hpp"
#include "apps/calm/lab_text.hpp"
#include "calm/calm.hpp"
#include "calm/lab/lab.hpp"
#include "calm/trace/text.hpp"

namespace calm::tool {
namespace {

struct Kitchen {
  std::string turns;
  std::string tidied;
};

/// Tidies up when the cook leaves, whatever the reason.
class Apron {
 public:
  Apron(Kitchen& kitchen, char name) noexcept : kitchen_(kitchen), name_(name) {}
  Apron(const Apron&) = delete;
  Apron& operator=(const Apron&) = delete;
  ~Apron() { kitchen_.tidied += name_; }

 private:
  Kitchen& kitchen_;
  char name_;
};

// NOLINTBEGIN(cppcoreguidelines-avoid-*-coroutine*,readability-static-accessed-through-instance): the kitchen outlives the
// run, and the scope keeps its body (TSK-5); co_await calls static members by itself
Task<> cook(Cx cx, Kitchen& kitchen, char name) {
  const Apron apron(kitchen, name);
  for (int turn = 0; turn < 2; ++turn) {
    co_await yield(cx);
    kitchen.turns += name;
  }
}

/// A run, and what was seen of it.
struct Seen {
  lab::LabReport report;
  Kitchen kitchen;
};

Seen cook_in_the_lab(const lab::LabConfig& config) {
  Seen seen;
  const auto program = [&kitchen = seen.kitchen](Cx cx) -> Task<> {
    const auto body = [&kitchen](Scope& scope) -> Task<> {
      for (const char name : {'A', 'B', 'C'}) {
        auto handle = co_await scope.fiber(cook, std::ref(kitchen), name);
        (void)handle;  // the scope owns the cook; nobody has to wait for it
      }
    };
    co_await scope(cx, body);
  };
  seen.report = lab::run(config, program);
  return seen;
}
// NOLINTEND(cppcoreguidelines-avoid-*-coroutine*,readability-static-accessed-through-instance)

void print_run(const Seen& seen, const std::string& remark) {
  fmt::print("  seed {}   {:<6}   trace digest {}{}\n", seen.report.seed, seen.kitchen.turns,
             digest_text(seen.report.trace_digest), remark.empty() ? "" : "   " + remark);
}

/// Gives: the cooks who did not get both of their turns, in words.
std::string stopped(const std::string& turns) {
  std::string text;
  for (const char name : {'A', 'B', 'C'}) {
    const auto count = std::count(turns.begin(), turns.end(), name);
    if (count != 2) text += fmt::format("{} stopped after {} of 2 turns", name, count);
  }
  return text;
}

void print_requests(const trace::Trace& trace) {
  for (const trace::Event& event : trace.events) {
    if (event.kind == trace::EventKind::cancel_request) fmt::print("  {}\n", to_string(event));
  }
}

void show_fault() {
  const Seen seen = cook_in_the_lab({.seed = 1, .faults = {.cancel_task_at = 6}});
  fmt::print("\nSeed 1 once more, but now the lab cancels the cook who comes to the sixth await of the run:\n\n");
  print_run(seen, stopped(seen.kitchen.turns));
  fmt::print("\nEvery cook has tidied up ({}), nothing is left behind, and {} oracles that watched found {}.\n",
             fmt::join(seen.kitchen.tidied, " "), std::size(lab::oracle_table),
             seen.report.is_clean() ? "nothing" : to_string(seen.report));
  fmt::print("The trace has the request, and the outcome tells who, when and why:\n\n");
  print_requests(seen.report.trace);
  fmt::print("\n{}\n", seen.report.end.explain());
}

}  // namespace

void show_lab() {
  fmt::print("\n1. A program in the lab: one seed, one run (I6, LAB-1, LAB-7)\n\n");
  fmt::print(
      "Three cooks, A, B and C, take two turns each at one stove. Time is virtual, and a seed decides who is next:\n\n");
  const Seen first = cook_in_the_lab({.seed = 1});
  const Seen again = cook_in_the_lab({.seed = 1});
  const Seen other = cook_in_the_lab({.seed = 2});
  const bool same = first.report.trace_digest == again.report.trace_digest;
  print_run(first, "");
  print_run(again, same ? "the same run, event for event" : "another run: a bug of calm");
  print_run(other, "another one");
  show_fault();
}

}  // namespace calm::tool
