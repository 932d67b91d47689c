#include "apps/calm/scenario/report.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <memory>

namespace calm::scenario {
namespace {

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json += '\\';
      json += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      json += fmt::format("\\u{:04x}", byte);
    } else {
      json += c;
    }
  }
  return json += '"';
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::string json = "[";
  for (const std::string& text : texts) json.append(json.size() == 1 ? "" : ", ").append(json_text(text));
  return json += ']';
}

std::string json_difference(const Difference& difference) {
  return fmt::format(R"({{"line": {}, "step": {}, "expected": {}, "found": {}}})", difference.place.line,
                     json_text(difference.what), json_text(difference.expected), json_text(difference.found));
}

std::string json_record(const Record& record, const Circumstances& circumstances) {
  std::string differences;
  for (const Difference& difference : record.result.differences) {
    differences.append(differences.empty() ? "\n      " : ",\n      ").append(json_difference(difference));
  }
  return fmt::format(
      "  {{\"id\": {}, \"file\": {}, \"law\": {},\n"
      "    \"format_version\": {}, \"codec\": {}, \"profile\": {},\n"
      "    \"compiler\": {}, \"commit\": {},\n"
      "    \"state_digest\": {}, \"semantic_digest\": {},\n"
      "    \"difference\": {}, \"differences\": [{}]}}",
      json_text(record.id), json_text(record.file), json_texts(record.laws), format_version, json_text(codec),
      json_text(circumstances.profile), json_text(circumstances.compiler), json_text(circumstances.commit),
      json_text(record.result.digest), json_text(record.result.semantic), json_text(to_string(record.result.kind)),
      differences);
}

// A text in one line of output.
std::string one_line(const std::string& text) {
  std::string line;
  for (const char c : text) line.append(c == '\n' ? std::string(" | ") : std::string(1, c));
  return line;
}

}  // namespace

std::string compiler_text() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string commit_text() {
  // NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): a fixed command without a word of the user
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> git(popen("git rev-parse HEAD 2>/dev/null", "r"), pclose);
  std::array<char, 128> line{};
  if (git == nullptr || std::fgets(line.data(), line.size(), git.get()) == nullptr) return "unknown";
  const std::string_view text(line.data());
  const std::size_t end = text.find_first_not_of("0123456789abcdef");
  return end >= 40 && end != std::string_view::npos ? std::string(text.substr(0, end)) : "unknown";
}

std::string difference_lines(const Record& record) {
  std::string lines;
  for (const Difference& difference : record.result.differences) {
    lines += fmt::format("{}{}: {}: expected {}, found {} [{}]\n", place_text(record.file, difference.place), record.id,
                         difference.what, one_line(difference.expected), one_line(difference.found),
                         fmt::join(record.laws, " "));
  }
  return lines;
}

std::string report_json(const std::vector<Record>& records, const Circumstances& circumstances) {
  std::string json = "[\n";
  for (const Record& record : records) {
    json.append(&record == records.data() ? "" : ",\n").append(json_record(record, circumstances));
  }
  return json.append("\n]\n");
}

}  // namespace calm::scenario
