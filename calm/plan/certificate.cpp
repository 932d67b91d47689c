#include "calm/plan/certificate.hpp"

namespace calm::plan {

std::string to_string(Conditions conditions) {
  std::string text;
  for (std::uint8_t i = 0; i < condition_count; ++i) {
    const auto condition = static_cast<Condition>(i);
    if (conditions.has(condition)) text.append(text.empty() ? "" : ", ").append(to_string(condition));
  }
  return text;
}

std::string to_string(const Certificate& certificate) {
  std::string text(to_string(certificate.rule));
  text.append(" at ").append(to_string(certificate.place));
  text.append("\n  before: ").append(certificate.before);
  text.append("\n  after:  ").append(certificate.after);
  text.append("\n  holds:  ").append(to_string(certificate.claimed));
  return text;
}

}  // namespace calm::plan
