#include "calm/trace/foata.hpp"

#include <algorithm>
#include <unordered_map>

#include "calm/check/require.hpp"
#include "calm/trace/hash.hpp"

namespace calm::trace {
namespace {

/// The deepest layers in which a resource was written and read so far.
struct Depth {
  std::uint32_t written = 0;
  std::uint32_t read = 0;
};

struct Line {
  std::uint32_t layer = 0;
  std::uint32_t number = 0;
};

bool same(const Step& a, const Place& in_a, const Step& b, const Place& in_b) {
  return in_a.layer == in_b.layer && a.process == b.process && a.says == b.says;
}

/// Counts, for numbers that come one by one, how many larger ones came before.
class Inversions {
 public:
  explicit Inversions(std::size_t count) : tree_(count + 1, 0) {}

  std::uint64_t add(std::size_t value) {
    std::uint64_t not_larger = 0;
    for (std::size_t i = value + 1; i != 0; i &= i - 1) not_larger += tree_[i];
    for (std::size_t i = value + 1; i < tree_.size(); i += i & (~i + 1)) ++tree_[i];
    return added_++ - not_larger;
  }

 private:
  std::vector<std::uint64_t> tree_;
  std::uint64_t added_ = 0;
};

}  // namespace

std::vector<Place> foata_of(std::span<const Step> steps) {
  std::unordered_map<std::uint64_t, Depth> depths;
  std::unordered_map<std::uint64_t, Line> lines;
  std::vector<Place> form(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    Line& line = lines[step.process];
    std::uint32_t before = line.layer;
    for (const StepTouch& touch : step.touched) {
      const Depth& depth = depths[touch.resource];
      before = std::max(before, touch.write ? std::max(depth.written, depth.read) : depth.written);
    }
    for (const std::size_t other : step.enabled_by) {
      CALM_REQUIRE(LAB_4, other < i, other, i);
      before = std::max(before, form[other].layer);
    }
    line = {before + 1, line.number + 1};
    form[i] = {before + 1, step.process, line.number, i};
    for (const StepTouch& touch : step.touched) {
      Depth& depth = depths[touch.resource];
      std::uint32_t& deepest = touch.write ? depth.written : depth.read;
      deepest = std::max(deepest, before + 1);
    }
  }
  std::sort(form.begin(), form.end());
  return form;
}

std::uint64_t fingerprint(std::span<const Step> steps, std::span<const Place> form) noexcept {
  Hasher hasher;
  for (const Place& place : form) {
    const Step& step = steps[place.step];
    hasher.add(std::uint64_t{place.layer}).add(step.process).add(std::uint64_t{step.says.size()});
    for (const std::uint64_t number : step.says) hasher.add(number);
  }
  return hasher.digest();
}

std::optional<FormDifference> first_difference(std::span<const Step> a, std::span<const Place> form_a,
                                               std::span<const Step> b, std::span<const Place> form_b) {
  const std::size_t common = std::min(form_a.size(), form_b.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (same(a[form_a[i].step], form_a[i], b[form_b[i].step], form_b[i])) continue;
    return FormDifference{std::min(form_a[i].layer, form_b[i].layer)};
  }
  if (form_a.size() == form_b.size()) return std::nullopt;
  return FormDifference{(form_a.size() > common ? form_a : form_b)[common].layer};
}

std::uint64_t swap_distance(std::span<const Place> form_a, std::span<const Place> form_b) {
  CALM_REQUIRE(LAB_4, form_a.size() == form_b.size(), form_a.size(), form_b.size());
  // Every pair that stands in another order must be swapped once, and commutes: dependent ones are in one order in both.
  std::vector<std::size_t> there(form_a.size());
  for (std::size_t i = 0; i < form_a.size(); ++i) there[form_a[i].step] = form_b[i].step;
  Inversions inversions(there.size());
  std::uint64_t swaps = 0;
  for (const std::size_t place : there) swaps += inversions.add(place);
  return swaps;
}

std::uint64_t switches_in(std::span<const Step> steps) noexcept {
  std::uint64_t switches = 0;
  for (std::size_t i = 1; i < steps.size(); ++i) switches += steps[i].process != steps[i - 1].process ? 1U : 0U;
  return switches;
}

}  // namespace calm::trace
