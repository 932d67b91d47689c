#include "calm/lab/task_columns.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "calm/explore/footprint.hpp"
#include "calm/trace/argument.hpp"
#include "calm/trace/event.hpp"

namespace calm::lab {
namespace {

using explore::Process;

constexpr std::size_t column_gap = 2;

struct Line {
  Process process;
  std::string text;
};

class Steps {
 public:
  explicit Steps(TaskProgram& program) noexcept : program_(program) {}

  void add(Process process) {
    explore::Footprint touched;
    (void)program_.step(process, touched);
    lines_.push_back({process, {}});
    for (const trace::Event& event : program_.step_events()) add(event, process);
    const std::string place = program_.place_of(process);
    if (!place.empty()) say("at " + place.substr(0, place.find(" in ")));
  }

  [[nodiscard]] std::string text() {
    std::vector<Process> who;
    for (const Line& line : lines_) {
      if (std::find(who.begin(), who.end(), line.process) == who.end()) who.push_back(line.process);
    }
    std::sort(who.begin(), who.end());
    std::map<Process, std::size_t> columns;
    std::string text = "        ";
    std::size_t at = 0;
    for (const Process process : who) {
      columns[process] = at;
      std::size_t width = program_.name_of(process).size();
      // The last column may be as wide as it likes; others as wide as the widest of their lines, within reason.
      for (const Line& line : lines_) {
        if (line.process == process) width = std::max(width, std::min<std::size_t>(line.text.size(), 28));
      }
      std::string name = program_.name_of(process);
      if (process != who.back()) name.resize(width + column_gap, ' ');
      text += name;
      at += width + column_gap;
    }
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      std::string number = std::to_string(i + 1);
      number.resize(6, ' ');
      text += "\n  " + number + std::string(columns[lines_[i].process], ' ') + lines_[i].text;
    }
    return text + "\n";
  }

 private:
  void say(const std::string& what) {
    std::string& text = lines_.back().text;
    text += (text.empty() ? "" : ", ") + what;
  }

  [[nodiscard]] std::string name_of(TaskId task) { return program_.name_of(program_.process_of(task)); }

  std::string object_name(trace::ResourceId resource) {
    return "x" + std::to_string(objects_.try_emplace(resource, objects_.size()).first->second);
  }

  void add(const trace::Event& event, Process process) {
    const bool own = event.task && program_.process_of(event.task) == process;
    if (event.kind == trace::EventKind::spawn && event.region.bits() == event.resource.bits() && event.task) {
      say("starts " + name_of(event.task));
    } else if (event.kind == trace::EventKind::complete) {
      const auto outcome = trace::outcome_in(event.argument);
      say("ends " + std::string(outcome ? to_string(*outcome) : std::string_view()));
    } else if (event.kind == trace::EventKind::cancel_request && event.task && !own) {
      say("cancels " + name_of(event.task));
    } else if (event.kind == trace::EventKind::timer && event.task) {
      say("wakes " + name_of(event.task));
    } else if (event.kind == trace::EventKind::reserve) {
      say("promises");
    } else if (event.kind == trace::EventKind::resolve) {
      say("resolves");
    } else if (event.kind == trace::EventKind::access && event.resource.is_registered()) {
      say((event.access == trace::Access::write ? "writes " : "reads ") + object_name(event.resource));
    }
  }

  TaskProgram& program_;
  std::vector<Line> lines_;
  std::map<trace::ResourceId, std::size_t> objects_;
};

}  // namespace

std::string task_columns(TaskProgram& program, const std::vector<explore::Process>& schedule) {
  // Once to learn the names, which are known when tasks have begun.
  program.restart();
  for (const Process process : schedule) {
    explore::Footprint touched;
    (void)program.step(process, touched);
    (void)program.name_of(process);
  }
  program.restart();
  Steps steps(program);
  for (const Process process : schedule) steps.add(process);
  return steps.text();
}

}  // namespace calm::lab
