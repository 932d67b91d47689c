#include <string>

#include "calm/model/budget.hpp"

namespace calm {

std::string to_string(Quota quota) { return quota.is_infinite() ? "infinite" : std::to_string(quota.count()); }

std::string to_string(const Budget& budget) {
  std::string text = "{deadline ";
  text.append(to_string(budget.deadline));
  text.append(", polls ").append(to_string(budget.polls));
  text.append(", cost ").append(to_string(budget.cost));
  text.append(", priority ").append(std::to_string(budget.priority));
  return text.append("}");
}

}  // namespace calm
