#include <string>

#include "calm/model/reason.hpp"
#include "calm/model/text.hpp"

namespace calm {

std::string to_string(const ReasonLevel& level) {
  std::string text(to_string(level.kind));
  text.append(" at ").append(to_string(level.at));
  if (level.region || level.task) text.append(" by");
  if (level.region) text.append(" ").append(to_string(level.region));
  if (level.task) text.append(" ").append(to_string(level.task));
  if (!level.message.empty()) text.append(": ").append(quoted(level.message));
  return text;
}

std::string to_string(const Reason& reason) { return reason ? to_string(*reason.levels().begin()) : "none"; }

std::string Reason::explain() const {
  if (!*this) return "no reason: not cancelled";
  const ReasonView story = levels();
  std::string text;
  for (const ReasonLevel& level : story) {
    if (!text.empty()) text.append("\n  because ");
    text.append(to_string(level));
  }
  if (story.truncated) text.append("\n  (truncated: older causes, or the end of a message, were dropped)");
  text.append("\n  severity ").append(std::to_string(severity()));
  text.append(", clean-up until ").append(to_string(cleanup().deadline));
  text.append(" with ").append(to_string(cleanup().polls)).append(" polls");
  text.append(" at priority ").append(std::to_string(cleanup().priority));
  return text;
}

}  // namespace calm
