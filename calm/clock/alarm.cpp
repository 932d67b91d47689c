#include "calm/clock/alarm.hpp"

#include <array>
#include <cstddef>

#include "calm/check/require.hpp"

namespace calm::clock::ring {
namespace {

bool is_sorted(const Alarm& first) noexcept {
  for (const Alarm* alarm = &first; alarm->after != &first; alarm = alarm->after) {
    if (goes_off_before(*alarm->after, *alarm)) return false;
  }
  return true;
}

/// Of two chains that end with nullptr; `before` is left as it was.
Alarm* merge(Alarm* a, Alarm* b) noexcept {
  Alarm* first = nullptr;
  Alarm** end = &first;
  while (a != nullptr && b != nullptr) {
    Alarm*& next = goes_off_before(*b, *a) ? b : a;
    *end = next;
    end = &next->after;
    next = next->after;
  }
  *end = a != nullptr ? a : b;
  return first;
}

}  // namespace

void sort(Alarm*& first) noexcept {
  if (first == nullptr || is_sorted(*first)) return;
  // Chains of 1, 2, 4, ... alarms wait for one as long as themselves.
  std::array<Alarm*, 64> waiting{};
  first->before->after = nullptr;
  for (Alarm* rest = first; rest != nullptr;) {
    Alarm* chain = rest;
    rest = rest->after;
    chain->after = nullptr;
    std::size_t i = 0;
    for (; waiting[i] != nullptr; ++i) {
      chain = merge(waiting[i], chain);
      waiting[i] = nullptr;
    }
    waiting[i] = chain;
  }
  Alarm* all = nullptr;
  for (Alarm* const chain : waiting) all = merge(chain, all);
  first = all;
  Alarm* last = all;
  CALM_REQUIRE(TMR_3, last != nullptr);  // a chain had one at least
  for (; last->after != nullptr; last = last->after) last->after->before = last;
  last->after = all;
  all->before = last;
}

}  // namespace calm::clock::ring
