// run_way.hpp — the two ways in which a test runs its program on workers of the production runtime.
// Laws:    LAB-1 (a program is the same one in each)
// Threads: the test's
// Cancel:  not applicable
//
// What a program gets that asks for nothing differs from what makes threads meet most often: one worker has words for one
// thread, and on several what takes less than RunOptions::worth_sharing stays where it is. So tests take turns. On one worker
// the usual way comes first; on several the name of the test decides, the other way round on more than two; every repeat
// (--gtest_repeat) takes the other one. CALM_TEST_WAY=usual or CALM_TEST_WAY=shared asks for one; a test that fails says which
// it was.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "calm/runtime/options.hpp"

namespace calm {

enum class RunWay : std::uint8_t {
  usual,   ///< as a program gets it that asks for nothing
  shared,  ///< words that several threads may use, with one worker too, and everything is shared, always
};

std::string_view to_string(RunWay way) noexcept;

/// Gives: what CALM_TEST_WAY asks for.
std::optional<RunWay> way_asked();

/// Gives: the way of the running test, or of the n-th run where it makes several that count as one; when the test fails, it is
///        told with the command that repeats it. Needs: the thread of the test.
RunWay way_here(std::uint16_t workers, std::uint64_t run = 0);

/// Gives: options to run a program in that way.
RunOptions options_for(RunWay way, std::uint16_t workers, std::uint64_t seed);

/// The same for the running test, with the seed of CALM_THREADS_SEED where there is one: `./dev soak` has another one for
/// every lot of repeats.
RunOptions options_here(std::uint16_t workers);

}  // namespace calm
