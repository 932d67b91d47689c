// The laws of join, race and timeout on all programs up to three leaves: both sides of an equation are explored, and the sets
// of what can be observed over all schedules are compared.
//
// Observed are the outcome, the promises and the marks; not times, cancel kinds, regions or notes (COM-3). One leaf is left
// out beside never(): a cancel from outside ends never() too, and when that is first, what x throws is a note (COM-2).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/combinator/join.hpp"
#include "calm/combinator/never.hpp"
#include "calm/combinator/race.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/wait_outcome.hpp"
#include "calm/lab/explore.hpp"
#include "calm/lab/gtest.hpp"
#include "calm/sync/latch.hpp"
#include "calm/time/timeout.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
// NOLINTBEGIN(misc-no-recursion): terms are trees
namespace calm {
namespace {

enum class Form : std::uint8_t { leaf, join, race, timeout };

/// What a leaf does, by its letter.
constexpr std::string_view leaf_letters = "oepswnxh";
//  o  ends with a value           e  with an error            p  with an exception
//  s  sleeps for 1 ms, then o     w  waits for a latch        n  never ends
//  x  never ends, and throws when it is cancelled             h  has a promise for a while
//  and without a trace of its own: u  ends with an empty value, N  never ends

struct Term {
  Form form = Form::leaf;
  char letter = 'o';
  char name = 'a';           // of a leaf: which one it is in the observation
  std::int64_t time_ms = 0;  // of a timeout
  std::vector<Term> parts{};
};

Term leaf_term(char letter, char name) { return {.letter = letter, .name = name}; }
Term form_term(Form form, Term left, Term right) {
  Term term{.form = form};
  term.parts = {std::move(left), std::move(right)};
  return term;
}
Term late_term(std::int64_t time_ms, Term part) {
  Term term{.form = Form::timeout, .time_ms = time_ms};
  term.parts = {std::move(part)};
  return term;
}

std::string to_string(const Term& term) {
  if (term.form == Form::leaf) return {term.letter};
  std::string text = term.form == Form::join ? "join(" : term.form == Form::race ? "race(" : "timeout(";
  if (term.form == Form::timeout) text += std::to_string(term.time_ms) + ", ";
  for (const Term& part : term.parts) text += to_string(part) + (&part == &term.parts.back() ? ")" : ", ");
  return text;
}

/// What the leaves of one run leave behind.
struct Traces {
  Latch& latch;
  std::string marks{};
  int kept = 0;
  int broken = 0;
};

Task<std::string> run_leaf(Cx cx, const Term& term, Traces& traces) {
  const std::string value(1, term.name);
  if (term.letter == 'u') co_return std::string();
  if (term.letter == 'N') co_return co_await never<std::string>(cx);
  if (term.letter != 'o' && term.letter != 'e' && term.letter != 'p') traces.marks += term.name;
  if (term.letter == 'e') co_return err(Errc::full, value);
  if (term.letter == 'p') throw std::runtime_error(value);
  if (term.letter == 's') co_await sleep(cx, Duration::milliseconds(1));
  if (term.letter == 'w') co_await traces.latch.wait(cx);
  if (term.letter == 'n') co_await never(cx);
  if (term.letter == 'x') {
    const Outcome<void> end = co_await outcome(never(cx));
    if (end.is_cancelled()) throw std::runtime_error(value);
  }
  if (term.letter == 'h') {
    Obligation promise = co_await reserve(cx, ObligationKind::lease);
    const Outcome<void> end = co_await outcome(sleep(cx, Duration::milliseconds(1)));
    if (end.is_ok()) {
      (void)promise.commit();
      ++traces.kept;
    } else {
      (void)promise.abort();
      ++traces.broken;
    }
  }
  co_return value;
}

Task<std::string> run_term(Cx cx, const Term& term, Traces& traces);

Task<std::string> run_timeout(Cx cx, const Term& term, Traces& traces) {
  const auto inside = [&term, &traces](Cx inner) -> Task<std::string> {
    co_return co_await run_term(inner, term.parts[0], traces);
  };
  co_return co_await timeout(cx, Duration::milliseconds(term.time_ms), inside);
}

Task<std::string> run_join(Cx cx, const Term& term, Traces& traces) {
  auto both = co_await join(cx, run_term(cx, term.parts[0], traces), run_term(cx, term.parts[1], traces));
  co_return std::get<0>(both) + std::get<1>(both);
}

/// No coroutine: a race in a race is a branch itself.
CALM_CORO_WRAPPER Task<std::string> run_term(Cx cx, const Term& term, Traces& traces) {
  if (term.form == Form::leaf) return run_leaf(cx, term, traces);
  if (term.form == Form::timeout) return run_timeout(cx, term, traces);
  if (term.form == Form::join) return run_join(cx, term, traces);
  return race(cx, run_term(cx, term.parts[0], traces), run_term(cx, term.parts[1], traces));
}

std::string observed(const Outcome<std::string>& end, Traces traces) {
  std::string text(to_string(end.kind()));
  if (end.is_ok()) text += " " + end.value();
  if (end.is_err()) text += " " + calm::to_string(end.error());
  if (end.is_panicked()) text += " " + end.panic().what();
  std::sort(traces.marks.begin(), traces.marks.end());
  text += ", marks " + traces.marks + ", promises " + std::to_string(traces.kept) + "/" + std::to_string(traces.broken);
  return text;
}

using Observations = std::set<std::string>;

/// Gives: everything that can be observed of the term. What does not end by itself ends after 5 ms.
Observations all_of(const Term& term) {
  Observations seen;
  const auto program = [&term, &seen](Cx cx) -> Task<void> {
    Latch latch(cx, 1);
    Traces traces{latch};
    const auto body = [&](Scope& scope) -> Task<void> {
      const auto opens = [&latch](Cx /*inner*/) -> Task<void> {
        latch.count_down();
        co_return;
      };
      (void)co_await scope.fiber(opens);
      const auto whole = [&](Cx inner) -> Task<std::string> { co_return co_await run_term(inner, term, traces); };
      const Outcome<std::string> end = co_await outcome(timeout(scope.cx(), Duration::milliseconds(5), whole));
      seen.insert(observed(end, std::move(traces)));
    };
    co_await scope(cx, body);
  };
  const auto report = lab::explore(program);
  EXPECT_LAB_CLEAN(report) << to_string(term);
  EXPECT_TRUE(report.exhausted());
  return seen;
}

std::string to_string(const Observations& seen) {
  std::string text;
  for (const std::string& line : seen) text += "  " + line + "\n";
  return text;
}

void expect_same(const Term& left, const Term& right) {
  const Observations of_left = all_of(left);
  const Observations of_right = all_of(right);
  EXPECT_EQ(of_left, of_right) << to_string(left) << "\n"
                               << to_string(of_left) << to_string(right) << "\n"
                               << to_string(of_right);
}

/// Both nestings of three, for every choice of leaves.
void expect_associative(Form form) {
  for (const char a : leaf_letters) {
    for (const char b : leaf_letters) {
      for (const char c : leaf_letters) {
        const Term left = form_term(form, form_term(form, leaf_term(a, 'a'), leaf_term(b, 'b')), leaf_term(c, 'c'));
        const Term right = form_term(form, leaf_term(a, 'a'), form_term(form, leaf_term(b, 'b'), leaf_term(c, 'c')));
        expect_same(left, right);
      }
    }
  }
}

TEST(CombinatorLaw, COM_3_race_is_associative) { expect_associative(Form::race); }

TEST(CombinatorLaw, COM_3_join_is_associative) { expect_associative(Form::join); }

/// All terms of one or two of these leaves.
std::vector<Term> small_terms(std::string_view letters = leaf_letters) {
  std::vector<Term> terms;
  for (const char a : letters) {
    terms.push_back(leaf_term(a, 'a'));
    for (const char b : letters) {
      terms.push_back(form_term(Form::race, leaf_term(a, 'a'), leaf_term(b, 'b')));
      terms.push_back(form_term(Form::join, leaf_term(a, 'a'), leaf_term(b, 'b')));
    }
  }
  return terms;
}

TEST(CombinatorLaw, COM_3_never_changes_nothing_in_a_race_on_either_side) {
  for (const Term& term : small_terms("oepswnh")) {
    expect_same(form_term(Form::race, term, leaf_term('N', 'z')), term);
    expect_same(form_term(Form::race, leaf_term('N', 'z'), term), term);
  }
}

TEST(CombinatorLaw, COM_3_an_immediate_unit_changes_nothing_in_a_join_on_either_side) {
  for (const Term& term : small_terms()) {
    expect_same(form_term(Form::join, term, leaf_term('u', 'z')), term);
    expect_same(form_term(Form::join, leaf_term('u', 'z'), term), term);
  }
}

TEST(CombinatorLaw, COM_3_of_two_timeouts_the_smaller_counts_whichever_is_outside) {
  for (const Term& term : small_terms()) {
    expect_same(late_term(2, late_term(3, term)), late_term(2, term));
    expect_same(late_term(3, late_term(2, term)), late_term(2, term));
  }
}

TEST(CombinatorLaw, COM_3_independent_branches_of_the_same_kind_can_change_places) {
  for (const Form form : {Form::race, Form::join}) {
    for (const char a : leaf_letters) {
      for (const char b : leaf_letters) {
        // Symmetric: the two have one name, so that nothing but their places differs.
        expect_same(form_term(form, leaf_term(a, 'a'), leaf_term(b, 'a')),
                    form_term(form, leaf_term(b, 'a'), leaf_term(a, 'a')));
      }
    }
  }
}

}  // namespace
}  // namespace calm
// NOLINTEND(misc-no-recursion)
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
