#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "apps/calm/commands.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/region_state.hpp"
#include "calm/model/task_state.hpp"

namespace calm::tool {
namespace {

template <class State, std::size_t count>
void show_table(std::string_view title, const State (&states)[count]) {
  std::size_t legal = 0;
  fmt::print("\n  {}\n", title);
  for (const State from : states) {
    fmt::print("  {:>15} ->", to_string(from));
    for (const State to : states) {
      if (!check_move(from, to)) continue;
      fmt::print(" {}", to_string(to));
      ++legal;
    }
    fmt::print("\n");
  }
  fmt::print("  {:>15}    {} of {} moves are legal\n", "", legal, count * count);
}

}  // namespace

void show_state_tables() {
  fmt::print("\n5. The state machines, as the kernel will obey them (REG-1, TSK-1, OBL-1)\n");
  show_table("region", region_states);
  show_table("task", task_states);
  show_table("obligation", obligation_states);
}

}  // namespace calm::tool
