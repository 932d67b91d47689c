#include "apps/calm/lint/warning.hpp"

namespace calm::lint {
namespace {

std::string text_of(const Place& place) { return place.file + ":" + std::to_string(place.line); }

}  // namespace

std::string to_string(const Warning& warning) {
  const std::string place = text_of(warning.place) + ": ";
  const std::string variable = warning.variable + " (" + warning.promise + ")";
  switch (warning.kind) {
    case WarningKind::already_resolved:
      return place + "already_resolved: " + warning.variable + " of " + warning.function +
             " may have been resolved before [OBL-1]";
    case WarningKind::leak:
      return place + "leak: " + variable + " may still be held where " + warning.function + " ends, " +
             text_of(warning.other) + " [OBL-6]";
    case WarningKind::not_reserved:
      return place + "not_reserved: " + warning.variable + " of " + warning.function +
             " may hold nothing that was reserved [OBL-1]";
    case WarningKind::overwritten:
      return place + "overwritten: " + variable + " of " + warning.function + ", made at " + text_of(warning.other) +
             ", may still be held [OBL-4]";
  }
  CALM_INVARIANT(OBL_8, false, static_cast<std::uint8_t>(warning.kind));
  return {};
}

}  // namespace calm::lint
