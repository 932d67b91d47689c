#include <string>

#include "calm/model/witness.hpp"

namespace calm {

std::string to_string(Epoch epoch) { return epoch ? "epoch " + std::to_string(epoch.value) : "never cancelled"; }

std::string to_string(const Witness& witness) {
  std::string text = to_string(witness.task);
  text.append(" in ").append(to_string(witness.region));
  text.append(" ").append(to_string(witness.epoch));
  text.append(" ").append(to_string(witness.phase));
  return text.append(": ").append(to_string(witness.reason));
}

}  // namespace calm
