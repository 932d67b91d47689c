// inspected.hpp — a run that another thread looks at until it has seen enough.
// Laws:    OBS-1
// Threads: the calling one runs the program, one of its own looks
// Cancel:  the program is shut down when enough was seen
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>

#include "calm/runtime/runtime.hpp"

namespace calm {

/// Runs the program, inspects it until `enough(text)`, for a minute at most, and stops it. Gives: the last text.
template <class Program, class Enough>
std::string inspect_until(const RunOptions& options, Program program, Enough enough) {
  Runtime runtime(options);
  std::string text;
  std::thread looker([&] {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    do {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      text = runtime.inspect();
    } while (!enough(text) && std::chrono::steady_clock::now() < limit);
    runtime.shut_down();
  });
  (void)runtime.block_on(std::move(program));
  looker.join();
  return text;
}

/// Gives: what stands before `noun` in the lines of the workers, summed up: `12 wakes`; 0 where no line has it.
inline std::uint64_t counted_in_all(const std::string& text, const std::string& noun) {
  std::uint64_t sum = 0;
  for (std::size_t line = text.find("\nworker "); line != std::string::npos; line = text.find("\nworker ", line + 1)) {
    const std::size_t end = text.find(' ' + noun, line);
    if (end == std::string::npos || end > text.find('\n', line + 1)) continue;
    const std::size_t begin = text.find_last_of(' ', end - 1) + 1;
    sum += std::stoull(text.substr(begin, end - begin));
  }
  return sum;
}

}  // namespace calm
