// workload.hpp — a cancellation goes down through eight regions, each told why by the one above and keeping its reason;
// the lowest is then cancelled four times more, and the strongest reason stays.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "bench/measure.hpp"
#include "calm/model/cancel_kind.hpp"

namespace bench {

inline constexpr std::uint32_t levels = 8;
inline constexpr std::size_t rivals = 4;
inline constexpr std::uint64_t cancellations = 1 << 16;

/// One request: who cancels whom, when and why.
struct Request {
  calm::CancelKind kind;
  std::uint32_t region;
  std::uint64_t at_ns;
  std::string_view message;
};

struct Case {
  Request root;
  std::array<Request, rivals> rival;
};

/// What the answer counts of the reason that stays.
struct Told {
  std::uint64_t severity;
  std::uint64_t depth;
  std::uint64_t deadline_ns;
  std::uint64_t polls;
  std::uint64_t message_bytes;  ///< of the whole story
};

inline Request some_request(Numbers& numbers) {
  constexpr std::string_view messages[] = {"", "too slow", "SIGTERM from the operator", "the client has gone away"};
  const std::uint64_t number = numbers.next();
  return {.kind = static_cast<calm::CancelKind>(number % calm::cancel_kind_count),
          .region = static_cast<std::uint32_t>(number >> 8 & 0xFFFF),
          .at_ns = number >> 40,
          .message = messages[number >> 24 & 3]};
}

inline std::vector<Case> make_cases() {
  Numbers numbers;
  std::vector<Case> all(cancellations);
  for (Case& one : all) {
    one.root = some_request(numbers);
    for (Request& rival : one.rival) rival = some_request(numbers);
  }
  return all;
}

/// `cancel(case)` gives what the strongest reason tells.
template <class Cancel>
int measure_cancellations(Cancel cancel) {
  return measure(cancellations, [all = make_cases(), cancel] {
    std::uint64_t answer = 0;
    for (const Case& one : all) {
      const Told told = cancel(one);
      answer = answer * 31 + (told.severity ^ told.depth << 8 ^ told.polls << 16 ^ told.message_bytes << 32) +
               told.deadline_ns;
    }
    return answer;
  });
}

}  // namespace bench
