#include <fmt/format.h>

#include <stdexcept>
#include <vector>

#include "apps/calm/commands.hpp"
#include "calm/model/outcome.hpp"

namespace calm::tool {

void show_outcome_lattice() {
  fmt::print("\n4. Outcomes join to the worse one (OUT-1, OUT-2, OUT-3)\n\n");
  const Reason stop({.kind = CancelKind::user, .at = Time(), .message = "enough"});
  const std::vector<Outcome<int>> ends = {
      ok(7),
      err(Errc::full, "queue of 64"),
      cancelled(stop),
      panicked(std::make_exception_ptr(std::runtime_error("index 9 of 8"))),
  };
  fmt::print("  {:>10} |", "join");
  for (const auto& column : ends) fmt::print(" {:>10}", to_string(column.kind()));
  fmt::print("\n");
  for (const auto& row : ends) {
    fmt::print("  {:>10} |", to_string(row.kind()));
    for (const auto& column : ends) fmt::print(" {:>10}", to_string(join(row, column).kind()));
    fmt::print("\n");
  }

  fmt::print("\n  {:<32} doubled, then halved if even\n", "an outcome");
  for (const auto& end : ends) {
    const auto halved = end.map([](int value) { return value * 2; }).and_then([](int value) -> Outcome<int> {
      if (value % 2 != 0) return err(Errc::invalid_argument);
      return ok(value / 2);
    });
    fmt::print("  {:<32} {}\n", to_string(end), to_string(halved));
  }
}

}  // namespace calm::tool
