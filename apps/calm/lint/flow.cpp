#include "apps/calm/lint/flow.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "apps/calm/lint/graph.hpp"
#include "calm/check/require.hpp"

namespace calm::lint {
namespace {

/// What a variable may be. From `first_site` on: holding the promise of that place.
using Cell = std::uint32_t;
constexpr Cell untouched = 0;
constexpr Cell resolved = 1;
constexpr Cell handed_in = 2;  // holding what the caller passed
constexpr Cell first_site = 3;
bool is_held(Cell cell) { return cell >= handed_in; }

using Cells = std::vector<Cell>;  // sorted, each once; empty where no way leads

bool add_all(Cells& to, const Cells& more) {
  if (std::includes(to.begin(), to.end(), more.begin(), more.end())) return false;
  Cells both;
  std::set_union(to.begin(), to.end(), more.begin(), more.end(), std::back_inserter(both));
  to = std::move(both);
  return true;
}

struct Summary {
  bool returns = false;
  std::vector<Cells> parameters{};  // what each may be at the return

  friend bool operator==(const Summary&, const Summary&) = default;
};

constexpr std::size_t no_variable = SIZE_MAX;  // follows only whether a step is reached

class Analysis {
 public:
  explicit Analysis(const Program& program) : program_(program) {
    const std::size_t count = program.functions.size();
    summaries_.resize(count);
    callers_.resize(count);
    for (std::size_t i = 0; i < count; ++i) index_.emplace(program.functions[i].name, i);
    for (std::size_t i = 0; i < count; ++i) {
      graphs_.emplace_back(program.functions[i]);
      summaries_[i].parameters.resize(program.functions[i].parameters.size());
      for (const Step& step : graphs_[i].steps) note(i, step.statement);
    }
  }

  std::vector<Warning> run() {
    summarise();
    for (std::size_t i = 0; i < graphs_.size(); ++i) {
      for (std::size_t variable = 0; variable < graphs_[i].variables.size(); ++variable) warn_of(i, variable);
    }
    return {warnings_.begin(), warnings_.end()};
  }

 private:
  // Gives a place that reserves its number, and a callee its caller.
  void note(std::size_t function, const Statement* statement) {
    if (statement == nullptr) return;
    if (statement->verb == Verb::reserve) {
      site_of_.emplace(statement, static_cast<Cell>(sites_.size()) + first_site);
      sites_.push_back(statement);
    }
    if (statement->verb == Verb::call) callers_[index_.at(statement->name)].insert(function);
  }

  void summarise() {
    std::set<std::size_t> open;
    for (std::size_t i = 0; i < graphs_.size(); ++i) open.insert(i);
    while (!open.empty()) {
      const std::size_t function = *open.begin();
      open.erase(open.begin());
      Summary summary = summary_of(function);
      if (summary == summaries_[function]) continue;
      summaries_[function] = std::move(summary);
      open.insert(callers_[function].begin(), callers_[function].end());
    }
  }

  Summary summary_of(std::size_t function) const {
    Summary summary;
    summary.returns = !at_exits(function, follow(function, no_variable)).empty();
    for (std::size_t i = 0; i < program_.functions[function].parameters.size(); ++i) {
      summary.parameters.push_back(at_exits(function, follow(function, i)));
    }
    return summary;
  }

  Cells at_exits(std::size_t function, const std::vector<Cells>& reached) const {
    Cells cells;
    const Graph& graph = graphs_[function];
    for (std::size_t i = 0; i < graph.steps.size(); ++i) {
      if (graph.steps[i].exit != nullptr) (void)add_all(cells, reached[i]);
    }
    return cells;
  }

  // Gives: what the variable may be before each step.
  std::vector<Cells> follow(std::size_t function, std::size_t variable) const {
    const Graph& graph = graphs_[function];
    std::vector<Cells> before(graph.steps.size());
    before.front() = {entry_cell(function, variable)};
    // The order of the steps is that of the text: a sweep carries everything forward, and loops need a few.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t i = 0; i < graph.steps.size(); ++i) {
        if (before[i].empty()) continue;
        const Cells after = step_over(graph, graph.steps[i], variable, before[i]);
        for (const std::size_t next : graph.steps[i].next) changed |= add_all(before[next], after) && next <= i;
      }
    }
    return before;
  }

  Cell entry_cell(std::size_t function, std::size_t variable) const {
    const auto& parameters = program_.functions[function].parameters;
    const bool passed = variable < parameters.size() && parameters[variable].mode != Mode::gives;
    return passed ? handed_in : untouched;
  }

  Cells step_over(const Graph& graph, const Step& step, std::size_t variable, const Cells& before) const {
    if (step.statement == nullptr) return before;
    const Statement& statement = *step.statement;
    if (statement.verb == Verb::call) return call_over(graph, statement, variable, before);
    if (variable == no_variable || statement.name != graph.variables[variable]) return before;
    return {statement.verb == Verb::reserve ? site_of_.at(&statement) : resolved};
  }

  Cells call_over(const Graph& graph, const Statement& statement, std::size_t variable, const Cells& before) const {
    const std::size_t callee = index_.at(statement.name);
    const Summary& summary = summaries_[callee];
    if (!summary.returns) return {};
    const std::size_t parameter =
        variable == no_variable ? no_variable : argument_of(statement, graph.variables[variable]);
    if (parameter == no_variable) return before;
    if (program_.functions[callee].parameters[parameter].mode == Mode::takes) return {resolved};
    Cells after;
    for (const Cell cell : summary.parameters[parameter]) {
      (void)add_all(after, cell == handed_in ? before : Cells{cell});
    }
    return after;
  }

  static std::size_t argument_of(const Statement& statement, std::string_view variable) {
    const auto found = std::find(statement.arguments.begin(), statement.arguments.end(), variable);
    return found == statement.arguments.end() ? no_variable
                                              : static_cast<std::size_t>(found - statement.arguments.begin());
  }

  void warn_of(std::size_t function, std::size_t variable) {
    const Graph& graph = graphs_[function];
    const std::vector<Cells> before = follow(function, variable);
    for (std::size_t i = 0; i < graph.steps.size(); ++i) {
      const Step& step = graph.steps[i];
      if (step.exit != nullptr) warn_at_exit(function, variable, *step.exit, before[i]);
      if (step.statement != nullptr) warn_at(function, variable, *step.statement, before[i]);
    }
  }

  void warn_at_exit(std::size_t function, std::size_t variable, const Place& exit, const Cells& cells) {
    const auto& parameters = program_.functions[function].parameters;
    if (variable < parameters.size() && parameters[variable].mode != Mode::takes) return;  // the caller's
    for (const Cell cell : cells) {
      if (is_held(cell)) add(WarningKind::leak, function, variable, made_at(function, cell), exit, cell);
    }
  }

  void warn_at(std::size_t function, std::size_t variable, const Statement& statement, const Cells& cells) {
    const std::string& name = graphs_[function].variables[variable];
    bool wants_held = statement.name == name && (statement.verb == Verb::commit || statement.verb == Verb::abort);
    bool wants_free = statement.name == name && statement.verb == Verb::reserve;
    if (statement.verb == Verb::call) {
      const std::size_t parameter = argument_of(statement, name);
      if (parameter == no_variable) return;
      wants_free = program_.functions[index_.at(statement.name)].parameters[parameter].mode == Mode::gives;
      wants_held = !wants_free;
    }
    for (const Cell cell : cells) {
      if (wants_free && is_held(cell)) {
        add(WarningKind::overwritten, function, variable, statement.place, made_at(function, cell), cell);
      }
      if (wants_held && cell == resolved) {
        add(WarningKind::already_resolved, function, variable, statement.place, {}, cell);
      }
      if (wants_held && cell == untouched) {
        add(WarningKind::not_reserved, function, variable, statement.place, {}, cell);
      }
    }
  }

  const Place& made_at(std::size_t function, Cell cell) const {
    return cell == handed_in ? program_.functions[function].place : sites_[cell - first_site]->place;
  }

  void add(WarningKind kind, std::size_t function, std::size_t variable, const Place& place, const Place& other,
           Cell cell) {
    std::string promise;
    if (is_held(cell)) promise = cell == handed_in ? "parameter" : to_string(sites_[cell - first_site]->kind);
    warnings_.insert({place, kind, graphs_[function].variables[variable], program_.functions[function].name,
                      std::move(promise), other});
  }

  const Program& program_;
  std::map<std::string_view, std::size_t> index_{};
  std::vector<Graph> graphs_{};
  std::vector<std::set<std::size_t>> callers_{};
  std::vector<Summary> summaries_{};
  std::vector<const Statement*> sites_{};
  std::unordered_map<const Statement*, Cell> site_of_{};
  std::set<Warning> warnings_{};
};

}  // namespace

std::vector<Warning> find_leaks(const Program& program) { return Analysis(program).run(); }

}  // namespace calm::lint
