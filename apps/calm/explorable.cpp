#include "apps/calm/explorable.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "apps/calm/gallery/gallery.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/scenario/problem.hpp"

namespace calm::tool {
namespace {

std::vector<std::string_view> all_names() {
  std::vector<std::string_view> names;
  for (const zoo::Species& species : zoo::species()) names.push_back(species.name);
  for (const gallery::Exhibit& exhibit : gallery::exhibits()) names.push_back(exhibit.name);
  return names;
}

std::string range_text(std::string_view name, const zoo::Range& range) {
  return range.last == 0 ? std::string() : fmt::format(" --{} {}..{}", name, range.first, range.last);
}

void list_exhibits(gallery::Exhibit::Kind kind) {
  for (const gallery::Exhibit& exhibit : gallery::exhibits()) {
    if (exhibit.kind != kind) continue;
    fmt::print("  {:<18}{}{}\n", exhibit.name, exhibit.bug, range_text("n", exhibit.n));
  }
}

}  // namespace

Explorable find_explorable(const std::string& name) {
  if (name.empty()) throw Refused{"explore needs a PROGRAM; calm explore --list shows them"};
  if (const zoo::Species* const species = zoo::find(name)) {
    return {.n = species->n, .m = species->m, .make = species->make, .count = species->count};
  }
  const gallery::Found found = gallery::find(name);
  if (found.exhibit == nullptr) throw Refused{scenario::unknown_text("program", name, all_names())};
  return {.n = found.exhibit->n, .m = {}, .make_bug = found.exhibit->make, .fixed = found.fixed};
}

void list_explorables() {
  fmt::print("Programs whose number of executions is known:\n");
  for (const zoo::Species& species : zoo::species()) {
    fmt::print("  {:<18}{}{}{}\n", species.name, species.what, range_text("n", species.n), range_text("m", species.m));
  }
  fmt::print("\nPrograms with a bug; with {} behind its name each is mended:\n", gallery::fixed_suffix);
  list_exhibits(gallery::Exhibit::Kind::planted);
  fmt::print("\nLocks in a wrong order, to compare strategies; mended in the same way:\n");
  list_exhibits(gallery::Exhibit::Kind::lock_order);
  fmt::print("\nPrograms that do not come to an end, or never do the same; mended in the same way:\n");
  list_exhibits(gallery::Exhibit::Kind::unruly);
}

std::uint32_t parameter(const std::string& program, const char* name, const zoo::Range& range,
                        const std::optional<std::uint32_t>& given) {
  if (!given) return range.standard;
  if (range.last == 0)
    throw Refused{fmt::format("{} takes no --{}; calm explore --list shows what each takes", program, name)};
  if (*given < range.first || *given > range.last) {
    throw Refused{fmt::format("--{} {} is out of range for {}; give one from {} to {}", name, *given, program,
                              range.first, range.last)};
  }
  return *given;
}

}  // namespace calm::tool
