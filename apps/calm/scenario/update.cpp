#include "apps/calm/scenario/update.hpp"

#include <cstddef>

#include "calm/check/require.hpp"

namespace calm::scenario {
namespace {

// The lines of a text, each with its newline.
std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

void set_digest(std::vector<std::string>& lines, const StatedDigest& stated, const std::string& hex) {
  std::string& line = lines[stated.place.line - 1];
  const std::size_t at = line.find(stated.hex, stated.place.column - 1);
  CALM_INVARIANT(LAB_11, at != std::string::npos, stated.place.line, stated.place.column);
  line.replace(at, hex.size(), hex);
}

std::string new_line(std::string_view key, const std::string& hex, std::string_view ending) {
  return std::string(key).append(" = \"").append(hex).append("\"").append(ending);
}

// A line that is added becomes part of the line before it, so the places of all others stay true.
void update(std::vector<std::string>& lines, const NewDigests& digests) {
  const Scenario& scenario = *digests.scenario;
  if (scenario.digest) set_digest(lines, *scenario.digest, digests.digest);
  if (scenario.semantic) set_digest(lines, *scenario.semantic, digests.semantic);
  std::string& last = lines[scenario.steps_end_line - 1];
  if (last.back() != '\n') last += '\n';
  const std::string_view ending = last.size() > 1 && last[last.size() - 2] == '\r' ? "\r\n" : "\n";
  if (!scenario.digest) last += new_line("digest", digests.digest, ending);
  if (!scenario.semantic) last += new_line("semantic", digests.semantic, ending);
}

}  // namespace

std::string updated_text(std::string_view text, const std::vector<NewDigests>& digests) {
  std::vector<std::string> lines = lines_of(text);
  for (const NewDigests& each : digests) update(lines, each);
  std::string updated;
  for (const std::string& line : lines) updated += line;
  return updated;
}

}  // namespace calm::scenario
