#include "calm/explore/reorder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <map>
#include <set>
#include <utility>

namespace calm::explore {
namespace {

/// How many steps of each process have been taken: in any order that respects what happens before what, the program stands
/// at the same place then.
using Cut = std::vector<std::uint16_t>;

/// Shortest way through the cuts of a run, where leaving a process that could go on costs one and everything else nothing.
class Reorder {
 public:
  Reorder(Program& program, const Execution& run, std::size_t most) : program_(program), run_(run), most_(most) {
    for (std::uint32_t i = 0; i < run.size(); ++i) steps_of_[run[i].process].push_back(i);
  }

  std::optional<Reordered> find() {
    line_.push_back(0);
    nodes_.push_back({.cut = Cut(run_.width()), .last = process_max});
    while (!line_.empty()) {
      const std::size_t at = line_.front();
      line_.pop_front();
      if (!settled_.emplace(nodes_[at].cut, nodes_[at].last).second) continue;
      const Standing& standing = standing_at(at);
      if (standing.failed || is_whole(nodes_[at].cut)) return Reordered{path_to(at), nodes_[at].cost};
      if (settled_.size() > most_) return std::nullopt;
      go_on_from(at, standing.enabled);
    }
    return std::nullopt;
  }

 private:
  struct Node {
    Cut cut;
    Process last = process_max;  // who took the last step
    std::uint32_t cost = 0;
    std::size_t before = 0;
  };
  /// What the program says at a cut.
  struct Standing {
    ProcessSet enabled;
    bool failed = false;
  };

  void go_on_from(std::size_t at, ProcessSet enabled) {
    for (std::uint32_t p = 0; p < run_.width(); ++p) {
      const auto process = static_cast<Process>(p);
      if (!can_be_next(nodes_[at].cut, process)) continue;
      Node next = nodes_[at];
      const bool preempts = next.last != process_max && next.last != process && enabled.has(next.last);
      ++next.cut[process];
      next.last = process;
      next.before = at;
      if (preempts) ++next.cost;
      nodes_.push_back(std::move(next));
      if (preempts) {
        line_.push_back(nodes_.size() - 1);
      } else {
        line_.push_front(nodes_.size() - 1);
      }
    }
  }

  /// Everything that happens before the next step of the process has been taken.
  [[nodiscard]] bool can_be_next(const Cut& cut, Process process) const {
    const std::vector<std::uint32_t>& steps = steps_of_[process];
    if (cut[process] == steps.size()) return false;
    const std::uint16_t* const clock = run_.clock(steps[cut[process]]);
    for (std::uint32_t p = 0; p < run_.width(); ++p) {
      if (p != process && clock[p] > cut[p]) return false;
    }
    return true;
  }

  [[nodiscard]] bool is_whole(const Cut& cut) const {
    for (std::uint32_t p = 0; p < run_.width(); ++p) {
      if (cut[p] != steps_of_[p].size()) return false;
    }
    return true;
  }

  const Standing& standing_at(std::size_t at) {
    const auto [place, fresh] = standings_.try_emplace(nodes_[at].cut);
    if (!fresh) return place->second;
    program_.restart();
    Footprint touched;
    for (const Process process : path_to(at)) {
      touched.clear();
      (void)program_.step(process, touched);
    }
    place->second = {program_.enabled(), program_.failed()};
    return place->second;
  }

  [[nodiscard]] std::vector<Process> path_to(std::size_t at) const {
    std::vector<Process> path;
    for (; nodes_[at].last != process_max; at = nodes_[at].before) path.push_back(nodes_[at].last);
    std::reverse(path.begin(), path.end());
    return path;
  }

  Program& program_;
  const Execution& run_;
  std::size_t most_;
  std::array<std::vector<std::uint32_t>, process_max> steps_of_{};
  std::vector<Node> nodes_;
  std::deque<std::size_t> line_;  // cheapest first
  std::set<std::pair<Cut, Process>> settled_;
  std::map<Cut, Standing> standings_;
};

}  // namespace

std::optional<Reordered> with_fewest_preemptions(Program& program, const Execution& run, std::size_t most) {
  return Reorder(program, run, most).find();
}

}  // namespace calm::explore
