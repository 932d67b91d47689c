#include <fmt/format.h>

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <string>

#include "apps/calm/commands.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/text.hpp"

namespace calm::tool {
namespace {

const ErrcEntry* find(const std::string& which) {
  std::uint16_t number = 0;
  const char* end = which.data() + which.size();
  const auto parsed = std::from_chars(which.data(), end, number);
  if (parsed.ec == std::errc() && parsed.ptr == end) return find_errc(number);
  return find_errc(std::string_view(which));
}

}  // namespace

int explain_error(const std::string& which) {
  if (which.empty()) {
    for (const ErrcEntry& row : errc_table) {
      fmt::print("{:>3}  {:<28} {}\n", static_cast<std::uint16_t>(row.code), row.name, row.cause);
    }
    return 0;
  }
  const ErrcEntry* row = find(which);
  if (row == nullptr) {
    fmt::print(stderr, "calm: there is no error {}; calm error lists all {}\n", calm::quoted(which), errc_count);
    return bad_usage;
  }
  fmt::print("{} (error {})\n  cause: {}\n  fix:   {}\n", row->name, static_cast<std::uint16_t>(row->code), row->cause,
             row->fix);
  return 0;
}

}  // namespace calm::tool
