#include "calm/runtime/counters.hpp"

#include "calm/kernel/view_text.hpp"

namespace calm::runtime {

std::string to_string(const Counters& counters) {
  using kernel::counted_noun;
  return counted_noun(counters.wakes.get(), "wake") + ", " + counted_noun(counters.steals.get(), "steal") + ", " +
         std::to_string(counters.from_commons.get()) + " shared, " + counted_noun(counters.looks.get(), "look") + ", " +
         counted_noun(counters.parks.get(), "park") + ", " + counted_noun(counters.calls.get(), "call") + ", " +
         counted_noun(counters.timers.get(), "timer") + ", " + counted_noun(counters.errands.get(), "errand") + ", " +
         counted_noun(counters.partings.get(), "parting") + ", " + counted_noun(counters.rescues.get(), "rescue");
}

}  // namespace calm::runtime
