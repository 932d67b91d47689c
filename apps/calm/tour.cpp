#include <fmt/format.h>

#include "apps/calm/commands.hpp"
#include "calm/version.hpp"

namespace calm::tool {

int tour() {
  fmt::print("calm {}: a tour of what exists\n", CALM_VERSION);
  show_lab();
  show_cancel_chain();
  show_budget_meet();
  show_outcome_lattice();
  show_state_tables();
  show_kernel();
  fmt::print("\nThe end. Every number above was computed just now; `calm error` lists what can go wrong.\n");
  return 0;
}

}  // namespace calm::tool
