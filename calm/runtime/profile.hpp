// profile.hpp — how much a runtime may take, in one word: server, embedded or tiny.
// Laws:    PRF-1 (limits, queue sizes and wait policies, never meaning), HND-3
// Threads: constants and values
// Cancel:  not applicable
//
//   calm::block_on(serve, calm::fitted_to({.workers = 1}, *calm::kernel::find_profile("tiny")));
#pragma once

#include <iterator>
#include <string_view>

#include "calm/kernel/config.hpp"
#include "calm/runtime/options.hpp"

namespace calm {

namespace runtime {

/// What a profile of the kernel means for the runtime around it.
struct Sizes {
  std::string_view profile;
  BlockingOptions blocking;
  BackOff back_off;
};
inline constexpr Sizes sizes[] = {
    {"server", {.threads_max = 64, .queue_max = 65'536}, {}},
    {"embedded", {.threads_max = 8, .queue_max = 1024, .idle_time = Duration::seconds(2)}, {}},
    {"tiny", {.threads_max = 2, .queue_max = 64, .idle_time = Duration::milliseconds(200)}, {.spins = 0, .yields = 0}},
};
static_assert(std::size(sizes) == std::size(kernel::profiles));

}  // namespace runtime

/// Gives: the options with the limits, the queue sizes and the back-off of the profile. What the program means is the same under
///        all of them, as long as it does not run out of something.
constexpr RunOptions fitted_to(RunOptions options, const kernel::Profile& profile) noexcept {
  options.kernel = kernel::with_profile(options.kernel, profile);
  for (const runtime::Sizes& of_runtime : runtime::sizes) {
    if (of_runtime.profile != profile.name) continue;
    options.blocking = of_runtime.blocking;
    options.back_off = of_runtime.back_off;
  }
  return options;
}

}  // namespace calm
