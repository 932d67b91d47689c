// shared_by.hpp — what the tests of programs on several workers share: a run, and a crowd of tasks.
// Laws:    none of its own
// Threads: as many workers as the test asks for
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "calm/cx/scope.hpp"
#include "calm/cx/wait.hpp"
#include "calm/runtime/run.hpp"
#include "tests/run_way.hpp"

namespace calm {

// NOLINTBEGIN(cppcoreguidelines-avoid-reference-coroutine-parameters)

/// A test with so many workers, in the two ways of run_way.hpp.
class SharedBy : public testing::TestWithParam<std::uint16_t> {
 protected:
  template <class F>
  auto run_program(F program) {
    return block_on(std::move(program), options_here(GetParam()));
  }
};
inline auto some_workers() { return testing::Values(std::uint16_t{1}, std::uint16_t{2}, std::uint16_t{8}); }
inline std::string name_of_workers(const testing::TestParamInfo<std::uint16_t>& tested) {
  return std::to_string(tested.param);
}

/// So many tasks of the same work, `work(cx, number)`.
template <class F>
struct Crowd {
  int tasks;
  F work;

  Task<void> operator()(Scope& scope) const {
    for (int number = 0; number < tasks; ++number) (void)co_await scope.spawn(work, number);
  }
};
template <class F>
Crowd(int, F) -> Crowd<F>;

inline Task<void> give_way(Cx cx, int number) {
  if (number % 3 == 0) co_await yield(cx);
}

// NOLINTEND(cppcoreguidelines-avoid-reference-coroutine-parameters)

}  // namespace calm
