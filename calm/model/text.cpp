#include "calm/model/text.hpp"

#include "calm/check/place.hpp"

namespace calm {

std::string text_of(std::source_location where) {
  std::string text = check::short_file(where.file_name());
  text.append(":").append(std::to_string(where.line()));
  const check::FunctionName function = check::short_function(where.function_name());
  if (function.name.size == 0) return text;
  text.append(" in ");
  if (function.scope.size != 0) text.append(function.scope.data, function.scope.size).append("::");
  return text.append(function.name.data, function.name.size);
}

std::string quoted(std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append(1, '\\').append(1, c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (byte < 0x20 || byte == 0x7F) {
      out.append("\\x").append(1, hex[byte >> 4]).append(1, hex[byte & 15U]);
    } else {
      out.append(1, c);
    }
  }
  return out.append("\"");
}

}  // namespace calm
