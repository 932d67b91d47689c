#include "apps/calm/scenario/problem.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "calm/model/text.hpp"

namespace calm::scenario {
namespace {

constexpr std::size_t word_bytes_max = 40;  // longer ones are no typing mistake, and cost a table that grows with them
constexpr std::size_t list_bytes_max = 400;

// How many letters must be put in, left out, replaced or swapped with the next one to make one word of the other.
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

}  // namespace

std::string place_text(std::string_view file, Place place) {
  std::string text(file);
  text.append(":");
  if (place.line != 0) text.append(std::to_string(place.line)).append(":");
  if (place.column != 0) text.append(std::to_string(place.column)).append(":");
  return text.append(" ");
}

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  if (word.size() > word_bytes_max) return {};
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  std::string_view found;
  for (const std::string_view candidate : candidates) {
    const std::size_t edits = edits_between(word, candidate);
    if (edits >= least) continue;
    least = edits;
    found = candidate;
  }
  return found;
}

std::string unknown_text(std::string_view what, std::string_view word, const std::vector<std::string_view>& allowed) {
  std::string text = "unknown ";
  text.append(what).append(" ").append(quoted(word));
  if (const std::string_view meant = nearest(word, allowed); !meant.empty()) {
    text.append("; did you mean ").append(quoted(meant)).append("?");
  }
  if (allowed.empty()) return text.append("; there is none yet");
  text.append(text.back() == '?' ? " allowed: " : "; allowed: ");
  std::string list;
  for (const std::string_view name : allowed) {
    if (!list.empty()) list.append(", ");
    if (list.size() + name.size() > list_bytes_max) return text.append(list).append("and more");
    list.append(name);
  }
  return text.append(list);
}

}  // namespace calm::scenario
