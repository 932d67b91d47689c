// on_flavours.hpp — tests that run on one worker of either flavour of the runtime: what it does alone it does the same way.
// Laws:    SCH-9 (single-worker runs are determined)
// Threads: one
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/runtime/run.hpp"

namespace calm {

class OnFlavour : public testing::TestWithParam<Flavour> {
 protected:
  /// Runs the body in a scope of the main task, on one worker.
  template <class F>
  auto run_body(F body, ScopeOptions options = {}) {
    return block_on(Program<F>{std::move(body), options}, {.workers = 1, .flavour = GetParam()});
  }

 private:
  template <class F>
  struct Program {
    F body;
    ScopeOptions options;
    CALM_CORO_WRAPPER auto operator()(Cx cx) { return scope(cx, body, options); }
  };
};

/// Both of them, and what they are called in the name of a test.
inline auto both_flavours() { return testing::Values(Flavour::current_thread, Flavour::multi_worker); }
inline std::string name_of_flavour(const testing::TestParamInfo<Flavour>& tested) {
  return tested.param == Flavour::current_thread ? "one" : "several";
}

}  // namespace calm
