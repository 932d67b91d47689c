// plan_critical_path.cpp — a plan before it runs: what decides how long it takes, what it can be simplified to, and the proof.
#include <calm/calm.hpp>
#include <calm/plan.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <utility>

using namespace std::chrono_literals;
namespace plan = calm::plan;

namespace {

// [build]
// What a leaf does not say counts as the worst: that it touches everything, fails, holds promises, is slow to clean up.
plan::LeafDraft reader(std::string name, calm::Duration takes) {
  return plan::leaf(std::move(name)).takes(takes).reads("db").ends_at_once().holds_no_promise();
}

calm::Outcome<plan::Plan> page_plan() {
  const auto near = reader("near", 5ms).like("replica").never_fails();
  const auto far = reader("far", 40ms).like("replica").never_fails();
  const auto session = reader("session", 8ms).repeatable();
  return plan::build(timeout(20s, timeout(10s, race(join(session, near), join(session, far)))));
}
// [/build]

// [measure]
void measure(const plan::Plan& page) {
  std::cout << to_string(page);
  std::cout << to_string(plan::timing(page)) << '\n';
}
// [/measure]

// [rewrite]
plan::Plan simplify(const plan::Plan& page) {
  plan::Simplified made = plan::simplify(page, plan::Policy::all());
  for (const plan::Certificate& certificate : made.certificates) std::cout << to_string(certificate) << '\n';
  for (const plan::Refusal& refusal : made.refusals) std::cout << to_string(refusal) << '\n';
  // The checker takes the plan as it was and the certificates, and knows nothing of the rewriter.
  const calm::Outcome<void> proof = plan::verify_all(page, made.certificates, made.plan);
  std::cout << "the certificates prove it: " << to_string(proof.kind()) << '\n';
  made.certificates.back().after = "Timeout(20s, Join[session, far])";
  const calm::Outcome<void> forged = plan::verify_all(page, made.certificates, made.plan);
  std::cout << "a forged one does not: " << to_string(forged.kind()) << '\n';
  return std::move(made.plan);
}
// [/rewrite]

// [run]
calm::Task<std::string> ask_session(calm::Cx cx) {
  co_await calm::sleep(cx, 2ms);
  co_return "ann";
}
calm::Task<std::string> ask_near(calm::Cx cx) {
  co_await calm::sleep(cx, 1ms);
  co_return "three orders";
}
calm::Task<std::string> ask_far(calm::Cx cx) {
  co_await calm::sleep(cx, 1h);
  co_return "never seen";
}

calm::Task<> run_it(calm::Cx cx, plan::Plan page) {
  plan::Works<std::string> works;
  works.add("session", ask_session).add("near", ask_near).add("far", ask_far);
  const plan::Answers<std::string> answers = co_await plan::run(cx, page, works);
  for (const auto& [leaf, value] : answers) {  // NOLINT(calm-long-loop): the plan has three leaves
    std::cout << leaf << ": " << value << '\n';
  }
}
// [/run]

}  // namespace

calm::Task<> plan_critical_path(calm::Cx cx) {
  const plan::Plan page = co_await page_plan();
  measure(page);
  const plan::Plan simpler = simplify(page);
  co_await run_it(cx, simpler);
}

int main() { return calm::run(plan_critical_path); }

// [prints]
// prints:
//   Timeout(20s, Timeout(10s, Race[Join[session, near], Join[session, far]]))
//   where
//     far takes 40ms, reads db, like replica, ends at once, holds no promise, never fails
//     near takes 5ms, reads db, like replica, ends at once, holds no promise, never fails
//     session takes 8ms, reads db, ends at once, holds no promise, repeatable
//   takes 8ms, decided at /0/0/0/0
//     /0/0/0/0 session takes 8ms: critical
//     /0/0/0/1 near takes 5ms: slack 3ms
//     /0/0/1/0 session takes 8ms: may take as long as it likes
//     /0/0/1/1 far takes 40ms: may take as long as it likes
//   TimeoutMin at /
//     before: Timeout(20s, Timeout(10s, Race[Join[session, near], Join[session, far]]))
//     after:  Timeout(10s, Race[Join[session, near], Join[session, far]])
//     holds:  budget, deterministic order
//   DedupRaceJoin at /0
//     before: Race[Join[session, near], Join[session, far]]
//     after:  Join[session, Race[near, far]]
//     holds:  independence, symmetry, repetition, no failure, obligations, cancel safety, budget, deterministic order
//   RaceCommute at /0/1
//     before: Race[near, far]
//     after:  Race[far, near]
//     holds:  independence, symmetry, obligations, budget, deterministic order
//   calm: JoinCommute is refused at /0
//     who:  session is like no other
//     law:  COM-4 symmetry
//     next: if that is not so, let the leaf say it; else the plan stays as it is
//   the certificates prove it: Ok
//   a forged one does not: Err
//   session: ann
//   near: three orders
// [/prints]
