#include "program_certain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace calm::programs {
namespace {

bool depends_on_chance(Do what) noexcept {
  switch (what) {
    case Do::spend:
    case Do::cancel_task:
    case Do::cancel_scope:
    case Do::drop_token:
    case Do::fail:
    case Do::panic:
      return true;
    case Do::mark:
    case Do::yield:
    case Do::checkpoint:
    case Do::sleep:
    case Do::entropy:
    case Do::join:
    case Do::drop_handle:
    case Do::defer:
    case Do::reserve:
    case Do::commit:
    case Do::abort:
    case Do::scope:
    case Do::spawn:
    case Do::fiber:
    case Do::defer_async:
    case Do::bracket:
    case Do::mask:
    case Do::section:
    case Do::attempt:
    case Do::call:
    case Do::catch_panic:
    case Do::with_deadline:
    case Do::with_budget:
      return false;
  }
  return true;
}

/// The budgets of scopes and children have no bound where the number is even, and scopes whose number is one below a multiple
/// of five take two tasks at a time. A finalizer has a thousand polls and five seconds.
void take_bounds_away(Statement& statement) noexcept {
  const Do what = statement.what;
  if (what == Do::scope && statement.a % 5 == 4) statement.a -= 2;
  if (what == Do::scope || what == Do::spawn || what == Do::fiber) statement.b -= statement.b % 2;
  if (what == Do::with_deadline || what == Do::with_budget) statement.what = Do::call;
  if (what == Do::yield) statement.a = std::min(statement.a, 3U);
  if (what == Do::sleep) statement.a = std::min(statement.a, 6U);
}

Block certain_block(const Block& block) {
  Block kept;
  for (const Statement& statement : block) {
    if (depends_on_chance(statement.what)) continue;
    Statement certain{
        .what = statement.what, .a = statement.a, .b = statement.b, .body = certain_block(statement.body)};
    take_bounds_away(certain);
    kept.push_back(std::move(certain));
  }
  return kept;
}

}  // namespace

Program certain_part(const Program& program) { return {.seed = program.seed, .body = certain_block(program.body)}; }

Deeds deeds_in(const Journal& journal) {
  Deeds deeds;
  for (std::size_t i = 0; i < journal.log().size(); i += Journal::line) {
    const Do what = static_cast<Do>(journal.log()[i + 2]);
    const bool has_kind = what == Do::join || what == Do::scope || what == Do::attempt || what == Do::catch_panic;
    ++deeds[{what, has_kind ? journal.log()[i + 3] : 0}];
  }
  return deeds;
}

std::vector<std::string> differences(const Deeds& in_lab, const Deeds& on_threads) {
  const auto count_in = [](const Deeds& deeds, const Deeds::key_type& deed) {
    const auto found = deeds.find(deed);
    return found == deeds.end() ? 0 : found->second;
  };
  std::set<Deeds::key_type> all;
  for (const Deeds* const deeds : {&in_lab, &on_threads}) {
    for (const auto& [deed, count] : *deeds) all.insert(deed);
  }
  std::vector<std::string> found;
  for (const Deeds::key_type& deed : all) {
    const std::uint64_t there = count_in(in_lab, deed);
    const std::uint64_t here = count_in(on_threads, deed);
    if (there == here) continue;
    found.push_back(fmt::format("{} with {}: {} times in the lab, {} on threads [LAB-1]", to_string(deed.first),
                                deed.second, there, here));
  }
  return found;
}

}  // namespace calm::programs
