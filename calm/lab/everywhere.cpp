#include "calm/lab/everywhere.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "calm/lab/names.hpp"
#include "calm/mem/allocation_points.hpp"

namespace calm::lab {
namespace {

std::uint64_t& place_of(Faults& faults, Strike strike) noexcept {
  switch (strike) {
    case Strike::cancel_task:
      return faults.cancel_task_at;
    case Strike::cancel_scope:
      return faults.cancel_scope_at;
    case Strike::fail_allocation:
      break;
  }
  return faults.fail_allocation;
}

std::string_view noun(Strike strike) noexcept {
  switch (strike) {
    case Strike::cancel_task:
      return "a cancel of the task at await point";
    case Strike::cancel_scope:
      return "a cancel of the scope at await point";
    case Strike::fail_allocation:
      break;
  }
  return "a failure of allocation";
}

/// Runs the program, once without faults and once for each place.
class Everywhere {
 public:
  Everywhere(const LabConfig& config, Program& program, Strike strike, const EverywhereOptions& options)
      : config_(config), program_(program), strike_(strike), options_(options) {}

  EverywhereReport strike() {
    report_.strike = strike_;
    report_.sees_new = strike_ != Strike::fail_allocation || mem::AllocationPoints::sees_new();
    if (const std::uint64_t only = place_of(config_.faults, strike_); only != 0) {
      report_.points_seen = only;
      strike_at(only);
      report_.points_hit = struck_.size();
      return std::move(report_);
    }
    const bool awaits = strike_ != Strike::fail_allocation;
    LabReport first = run_program(config_, program_, {.sites = awaits ? &sites_ : nullptr, .allocations = !awaits});
    report_.points_seen = awaits ? first.await_points : first.allocations;
    const bool clean = judge(first);
    if (!clean) keep(std::move(first));
    if (clean) {
      for (const std::uint64_t place : places()) strike_at(place);
    }
    count_sites();
    return std::move(report_);
  }

 private:
  /// Gives: every place, or as many as there may be runs; at even distances, and the first of every line.
  std::set<std::uint64_t> places() {
    std::set<std::uint64_t> places;
    const std::uint64_t seen = report_.points_seen;
    const std::uint64_t runs = std::min(seen, options_.max_runs);
    report_.sampled = runs < seen;
    for (std::uint64_t i = 0; i < runs; ++i) places.insert(1 + i * (seen - 1) / std::max<std::uint64_t>(runs - 1, 1));
    std::set<std::string> lines;
    for (std::uint64_t i = 0; report_.sampled && i < sites_.size(); ++i) {
      if (lines.insert(place_text(sites_[i].site)).second) places.insert(i + 1);
    }
    return places;
  }

  void strike_at(std::uint64_t place) {
    LabConfig config = config_;
    place_of(config.faults, strike_) = place;
    LabReport report = run_program(config, program_);
    const std::uint64_t reached = strike_ == Strike::fail_allocation ? report.allocations : report.await_points;
    if (reached >= place) struck_.insert(place);
    if (judge(report)) return;
    std::string where = "calm: with " + std::string(noun(strike_)) + " " + std::to_string(place);
    if (place <= sites_.size()) where.append(", ").append(place_text(sites_[place - 1].site));
    report.problems.front().text.insert(0, where + ":\n");
    keep(std::move(report));
  }

  bool judge(LabReport& report) const {
    if (!options_.check) return report.is_clean();
    if (std::string wrong = options_.check(report); !wrong.empty()) {
      report.problems.push_back({Oracle::check, std::move(wrong)});
    }
    return report.is_clean();
  }

  void keep(LabReport report) {
    ++report_.failed;
    if (report_.failures.size() < options_.failures_kept) report_.failures.push_back(std::move(report));
  }

  void count_sites() {
    report_.points_hit = struck_.size();
    std::map<std::string, SiteCoverage> lines;
    for (std::uint64_t i = 0; i < sites_.size(); ++i) {
      SiteCoverage& line = lines[place_text(sites_[i].site)];
      ++line.seen;
      line.hit += struck_.contains(i + 1) ? 1U : 0U;
    }
    for (auto& [place, line] : lines) {
      line.place = place.empty() ? "inside calm" : place;
      report_.sites.push_back(std::move(line));
    }
  }

  LabConfig config_;
  Program& program_;
  Strike strike_;
  const EverywhereOptions& options_;
  std::vector<AwaitSite> sites_;
  std::set<std::uint64_t> struck_;
  EverywhereReport report_;
};

}  // namespace

EverywhereReport strike_everywhere(const LabConfig& config, Program& program, Strike strike,
                                   const EverywhereOptions& options) {
  return Everywhere(config, program, strike, options).strike();
}

std::string to_string(const EverywhereReport& report) {
  const bool awaits = report.strike != Strike::fail_allocation;
  std::string text = "calm lab: " + std::to_string(report.points_hit) + " of " + std::to_string(report.points_seen) +
                     (awaits ? " await points" : " allocations") + " struck";
  if (report.sampled) text += ", at even distances because there are so many";
  if (awaits) {
    const auto hit =
        std::count_if(report.sites.begin(), report.sites.end(), [](const auto& site) { return site.hit != 0; });
    text += "; " + std::to_string(hit) + " of " + std::to_string(report.sites.size()) + " lines";
  }
  if (!report.sees_new) text += "\n  note: operator new is not replaced; link calm::fail_new to see all allocations";
  for (const SiteCoverage& site : report.sites) {
    if (site.hit == 0) text.append("\n  never struck: ").append(site.place);
  }
  if (report.is_clean()) return text;
  text += "\n  failed: " + std::to_string(report.failed) + " runs";
  for (const LabReport& failure : report.failures) text.append("\n").append(to_string(failure));
  return text;
}

}  // namespace calm::lab
