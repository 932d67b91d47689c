// The names that a run leaves beside its trace.
#include "calm/lab/names.hpp"

#include <gtest/gtest.h>

#include <string>

#include "calm/cx/scope.hpp"
#include "calm/lab/lab.hpp"
#include "calm/trace/json.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

Task<int> nap(Cx cx) {
  co_await sleep(cx, Duration::milliseconds(3));
  co_return 0;
}

Task<int> body(Scope& scope) {
  auto child = co_await scope.spawn(nap);
  const int value = co_await std::move(child).join(scope.cx());
  co_return value;
}

Task<int> program(Cx cx) {
  const int value = co_await scope(cx, body);
  co_return value;
}

TEST(LabNames, LAB_12_names_and_places_stand_beside_the_trace_and_change_no_digest) {
  const lab::LabReport plain = lab::run({.seed = 3}, &program);
  const lab::LabReport named = lab::run({.seed = 3, .names = true}, &program);
  EXPECT_TRUE(plain.names.empty());
  EXPECT_EQ(plain.trace_digest, named.trace_digest);
  std::string all;
  for (const auto& [id, task] : named.names.tasks)
    all += to_string(id) + " " + task.name + " " + task.await_site + "\n";
  EXPECT_NE(all.find("program "), std::string::npos) << all;
  EXPECT_NE(all.find("nap tests/unit/lab/names_test.cpp:"), std::string::npos) << all;
  const auto again = trace::from_json(trace::to_json(named.trace, named.names));
  EXPECT_EQ(again.value().names, named.names);
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)
