#include "calm/model/outcome_text.hpp"

namespace calm::detail {

std::string outcome_line(OutcomeKind kind, std::string_view payload) {
  std::string line(to_string(kind));
  if (!payload.empty()) line.append("(").append(payload).append(")");
  return line;
}

std::string outcome_explanation(OutcomeKind kind, std::string_view payload, const Notes& notes) {
  std::string text(to_string(kind));
  if (!payload.empty()) text.append(": ").append(payload);
  for (const Note& note : notes) text.append("\n  note: ").append(to_string(note));
  if (notes.incomplete()) text.append("\n  note: further notes were dropped");
  return text;
}

}  // namespace calm::detail
