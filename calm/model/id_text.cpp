#include <string>

#include "calm/model/id.hpp"

namespace calm {
namespace {

template <IdType type>
std::string text(char letter, Id<type> id) {
  if (!id) return "none";
  std::string out = letter + std::to_string(id.index());
  if (id.generation().value() != Generation::first) out.append(".").append(std::to_string(id.generation().value()));
  return out;
}

}  // namespace

std::string to_string(RegionId id) { return text('r', id); }
std::string to_string(TaskId id) { return text('t', id); }
std::string to_string(ObligationId id) { return text('o', id); }
std::string to_string(WitnessId id) { return text('w', id); }
std::string to_string(TimerId id) { return text('m', id); }
std::string to_string(ChannelId id) { return text('c', id); }

}  // namespace calm
