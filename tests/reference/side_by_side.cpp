#include "side_by_side.hpp"

#include "driver.hpp"

namespace calm::reference {

void Coverage::add(const Moves& other) {
  for (const auto& [move, times] : other.regions) moves.regions[move] += times;
  for (const auto& [move, times] : other.tasks) moves.tasks[move] += times;
  for (const auto& [move, times] : other.obligations) moves.obligations[move] += times;
}

std::optional<Difference> run(const Program& program, Coverage& coverage, Fault fault) {
  Driver driver(program.setup, coverage, fault);
  for (std::size_t at = 0; at < program.operations.size(); ++at) {
    std::string text = driver.step(program.operations[at]);
    if (!text.empty()) return Difference{at, std::move(text)};
  }
  std::string text = driver.drain();
  if (!text.empty()) return Difference{program.operations.size(), std::move(text)};
  coverage.add(driver.moves());
  return std::nullopt;
}

}  // namespace calm::reference
