#include "calm/lab/replay.hpp"

#include <algorithm>

#include "calm/trace/text.hpp"

namespace calm::lab {
namespace {

std::string side(const std::optional<trace::Event>& event) {
  return event ? to_string(*event) + " at " + to_string(event->time) : "nothing more";
}

}  // namespace

std::optional<Divergence> first_difference(const trace::Trace& expected, const trace::Trace& actual) {
  const auto [one, other] =
      std::mismatch(expected.events.begin(), expected.events.end(), actual.events.begin(), actual.events.end());
  if (one == expected.events.end() && other == actual.events.end()) return std::nullopt;
  Divergence divergence{.index = static_cast<std::uint64_t>(one - expected.events.begin())};
  if (one != expected.events.end()) divergence.expected = *one;
  if (other != actual.events.end()) divergence.actual = *other;
  return divergence;
}

std::string to_string(const Divergence& divergence) {
  return "calm: the run is another one after " + std::to_string(divergence.index) +
         " events\n  expected: " + side(divergence.expected) + "\n  actual:   " + side(divergence.actual) +
         "\n  law:  I6 the same program, seed and configuration give the same trace, event for event"
         "\n  next: if the program has not changed since, look for what changes between runs: addresses, statics, real time, "
         "unordered containers, threads";
}

std::optional<Divergence> expect_same(const LabReport& expected, LabReport& actual) {
  std::optional<Divergence> difference = first_difference(expected.trace, actual.trace);
  if (difference) {
    actual.problems.push_back({Oracle::determinism, to_string(*difference)});
  } else if (expected.state_digest != actual.state_digest) {
    difference = Divergence{.index = expected.trace.events.size()};
    actual.problems.push_back(
        {Oracle::determinism,
         "calm: the events are the same and the state at the end is not\n  law:  LAB-12 the state digest\n  next: this is "
         "a bug of calm; report it with the schedule"});
  }
  return difference;
}

}  // namespace calm::lab
