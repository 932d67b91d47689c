#include "calm/trace/few_switches.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace calm::trace {
namespace {

/// How many steps of each process have been taken.
using Cut = std::vector<std::uint32_t>;

/// The steps by process, and what each must wait for.
class Order {
 public:
  explicit Order(std::span<const Step> steps) {
    std::map<std::uint64_t, std::size_t> numbers;
    for (const Step& step : steps) numbers.try_emplace(step.process, 0);
    for (auto& [process, number] : numbers) number = lines_.size(), lines_.emplace_back();
    std::vector<std::pair<std::size_t, std::uint32_t>> place;  // of each step: its line, and its number there from 1
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> readers;
    std::unordered_map<std::uint64_t, std::size_t> writers;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::size_t line = numbers[steps[i].process];
      Node node{i, Cut(numbers.size(), 0)};
      const auto wait_for = [&](std::size_t other) {
        std::uint32_t& needed = node.needs[place[other].first];
        needed = std::max(needed, place[other].second);
      };
      for (const std::size_t other : steps[i].enabled_by) wait_for(other);
      for (const StepTouch& touch : steps[i].touched) {
        if (const auto writer = writers.find(touch.resource); writer != writers.end()) wait_for(writer->second);
        if (touch.write) {
          for (const std::size_t reader : readers[touch.resource]) wait_for(reader);
        }
      }
      for (const StepTouch& touch : steps[i].touched) {
        if (touch.write) {
          readers[touch.resource].clear();
          writers[touch.resource] = i;
        } else {
          readers[touch.resource].push_back(i);
        }
      }
      node.needs[line] = static_cast<std::uint32_t>(lines_[line].size());
      place.emplace_back(line, node.needs[line] + 1);
      lines_[line].push_back(std::move(node));
    }
  }

  [[nodiscard]] std::size_t lines() const noexcept { return lines_.size(); }

  /// Takes the steps of a line as far as it can go. It is never better to stop before.
  void run(Cut& cut, std::size_t line, std::vector<std::size_t>* taken = nullptr) const {
    while (cut[line] < lines_[line].size()) {
      const Node& node = lines_[line][cut[line]];
      for (std::size_t other = 0; other < cut.size(); ++other) {
        if (cut[other] < node.needs[other]) return;
      }
      if (taken != nullptr) taken->push_back(node.step);
      ++cut[line];
    }
  }
  [[nodiscard]] bool is_end(const Cut& cut) const noexcept {
    for (std::size_t line = 0; line < cut.size(); ++line) {
      if (cut[line] != lines_[line].size()) return false;
    }
    return true;
  }

 private:
  struct Node {
    std::size_t step;
    Cut needs;  // how many steps of each line come first
  };
  std::vector<std::vector<Node>> lines_;
};

/// Gives: which line runs after which, or nothing when there is too much to look at.
std::vector<std::size_t> search(const Order& order, std::size_t effort) {
  struct Reached {
    Cut cut;
    std::size_t from;
    std::size_t line;
  };
  std::vector<Reached> reached{{Cut(order.lines(), 0), 0, 0}};
  std::map<Cut, std::size_t> known{{reached[0].cut, 0}};
  for (std::size_t at = 0; at < reached.size() && reached.size() <= effort; ++at) {
    if (order.is_end(reached[at].cut)) {
      std::vector<std::size_t> lines;
      for (std::size_t back = at; back != 0; back = reached[back].from) lines.push_back(reached[back].line);
      std::reverse(lines.begin(), lines.end());
      return lines;
    }
    for (std::size_t line = 0; line < order.lines(); ++line) {
      Cut cut = reached[at].cut;
      order.run(cut, line);
      if (cut == reached[at].cut || !known.try_emplace(cut, reached.size()).second) continue;
      reached.push_back({std::move(cut), at, line});
    }
  }
  return {};
}

/// Gives: the line that can go furthest, the first of several.
std::size_t longest(const Order& order, const Cut& cut) {
  std::size_t best = 0;
  std::uint32_t furthest = 0;
  for (std::size_t line = 0; line < order.lines(); ++line) {
    Cut after = cut;
    order.run(after, line);
    if (after[line] - cut[line] <= furthest) continue;
    furthest = after[line] - cut[line];
    best = line;
  }
  return best;
}

}  // namespace

DisplayOrder few_switches(std::span<const Step> steps, std::size_t effort) {
  DisplayOrder display;
  if (steps.empty()) return display;
  const Order order(steps);
  const std::vector<std::size_t> lines = search(order, effort);
  display.fewest = !lines.empty();
  Cut cut(order.lines(), 0);
  for (const std::size_t line : lines) order.run(cut, line, &display.steps);
  while (!order.is_end(cut)) order.run(cut, longest(order, cut), &display.steps);
  for (std::size_t i = 1; i < display.steps.size(); ++i) {
    display.switches += steps[display.steps[i]].process != steps[display.steps[i - 1]].process ? 1U : 0U;
  }
  return display;
}

}  // namespace calm::trace
