#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "apps/calm/commands.hpp"
#include "apps/calm/file.hpp"
#include "apps/calm/refused.hpp"
#include "apps/calm/trace_diff.hpp"
#include "calm/model/text.hpp"
#include "calm/observe/html.hpp"
#include "calm/observe/perfetto.hpp"
#include "calm/observe/story.hpp"
#include "calm/observe/tla.hpp"
#include "calm/observe/words.hpp"
#include "calm/trace/check.hpp"
#include "calm/trace/codec.hpp"
#include "calm/trace/forms.hpp"
#include "calm/trace/json.hpp"
#include "calm/trace/steps.hpp"
#include "calm/trace/text.hpp"

namespace calm::tool {
namespace {

trace::NamedTrace load(const std::string& path) {
  auto read = trace::read_trace(read_file(path));
  if (!read) throw Refused{path + ": " + std::string(read.error().message())};
  return std::move(read).value();
}

void write(const std::string& path, std::string_view bytes) {
  if (!path.empty()) return write_file(path, bytes);
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size() || std::fflush(stdout) != 0) {
    throw Refused{"the result cannot be written to standard output"};
  }
}

std::string exported(const trace::NamedTrace& named, const TraceOptions& options) {
  const auto& [trace, names] = named;
  if (options.format == "json") return trace::to_json(trace, names);
  if (options.format == "html") {
    return observe::to_html(trace, names, std::filesystem::path(options.file).filename().string());
  }
  if (options.format == "tla") return observe::tla_of(trace);
  if (options.format == "perfetto") {
    return observe::to_perfetto(trace, names, options.axis == "time" ? observe::Axis::time : observe::Axis::order);
  }
  const auto bytes = trace::encode(trace);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void print_summary(const trace::Trace& trace, const observe::Story& story) {
  const auto count = [&story](observe::Row::Type type) {
    return std::count_if(story.rows.begin(), story.rows.end(), [type](const auto& row) { return row.type == type; });
  };
  fmt::print("{} events, {} regions, {} tasks", trace.events.size(), count(observe::Row::Type::region),
             count(observe::Row::Type::task));
  if (trace.overwritten != 0) fmt::print("; {} older events are missing", trace.overwritten);
  fmt::print("\n");
}

void print_names(const trace::Names& names) {
  for (const auto& [id, name] : names.resources) fmt::print("  {} is {}\n", to_string(id), calm::quoted(name));
  for (const auto& [id, task] : names.tasks) {
    fmt::print("  {} is {}", to_string(id), calm::quoted(task.name));
    if (!task.spawn_site.empty()) fmt::print(", spawned at {}", calm::quoted(task.spawn_site));
    if (!task.await_site.empty()) fmt::print(", awaits at {}", calm::quoted(task.await_site));
    fmt::print("\n");
  }
}

/// Gives: the row with this id. An empty text is no row.
std::optional<std::size_t> row_named(const observe::Story& story, const std::string& text) {
  if (text.empty()) return std::nullopt;
  for (std::size_t i = 0; i < story.rows.size(); ++i) {
    const observe::Row& row = story.rows[i];
    const bool task = row.type == observe::Row::Type::task;
    if (row.type != observe::Row::Type::runtime && (task ? to_string(row.task) : to_string(row.region)) == text)
      return i;
  }
  throw Refused{"the trace has no task or region " + calm::quoted(text) + "; calm trace show without --of shows all"};
}

void show(const TraceOptions& options) {
  const trace::NamedTrace named = load(options.file);
  const auto& events = named.trace.events;
  if (options.event != 0) {
    const auto found =
        std::find_if(events.begin(), events.end(), [&](const auto& each) { return each.sequence == options.event; });
    if (found == events.end()) throw Refused{fmt::format("the trace has no event #{}", options.event)};
    fmt::print("{}", observe::explain(named.trace, static_cast<std::size_t>(found - events.begin()), named.names));
    return;
  }
  const observe::Story story = observe::story_of(named.trace);
  const auto only = row_named(story, options.of);
  print_summary(named.trace, story);
  print_names(named.names);
  for (std::size_t i = 0; i < events.size(); ++i) {
    if (!only || story.row_of[i] == *only) fmt::print("{:>12}  {}\n", to_string(events[i].time), to_string(events[i]));
  }
}

void digest(const TraceOptions& options) {
  const trace::Trace trace = load(options.file).trace;
  fmt::print("trace    {}\nsemantic {}\n", trace::digest_text(trace_digest(trace)),
             trace::digest_text(semantic_digest(trace)));
  if (const auto split = trace::steps_of(trace)) {
    const std::vector<trace::Step>& steps = split.value().steps;
    fmt::print("foata    {}\n", trace::digest_text(fingerprint(steps, foata_of(steps))));
  }
}

/// Gives: 0, or 1 when the trace has something that must not be.
int check(const TraceOptions& options) {
  const trace::Trace trace = load(options.file).trace;
  const trace::Checked checked = trace::check_trace(trace);
  for (const trace::Violation& found : checked.violations) {
    fmt::print("calm: {}: #{} {}\n  seen: {}\n  law:  {}\n", to_string(found.clause), found.sequence, found.text,
               to_string(trace.events[found.index]), found.law);
  }
  const std::string_view whole = trace.overwritten != 0 ? "its beginning is missing, only its numbers were checked"
                                 : checked.closed       ? "closed at the end"
                                                        : "not closed at the end";
  fmt::print("{} events, {} regions, {} tasks, {} promises, {}{}: {}\n", checked.events, checked.regions, checked.tasks,
             checked.promises, whole, checked.dispatched ? ", dispatches checked" : "",
             checked.ok() ? "lawful" : fmt::format("{} violations", checked.violations.size()));
  return checked.ok() ? 0 : 1;
}

template <class Act>
void set_action(CLI::App& command, int& status, Act act) {
  command.callback([&status, act] {
    const int result = or_refused([&act] {
      if constexpr (std::is_same_v<decltype(act()), int>) return act();
      act();
      return 0;
    });
    if (result != 0) status = result;
  });
}

void add_file(CLI::App& command, TraceOptions& options) {
  command.add_option("FILE", options.file, "a trace, in the binary or the JSON form")->required();
}

void add_output(CLI::App& command, TraceOptions& options) {
  command.add_option("-o,--output", options.output, "file to write; standard output without it");
}

}  // namespace

void add_trace(CLI::App& app, TraceOptions& options, int& status) {
  auto* const trace = app.add_subcommand("trace", "look at a recorded run: as text, as a timeline, for other tools");
  trace->require_subcommand(0, 1);
  set_action(*trace, status, [trace] {
    if (!trace->get_subcommands().empty()) return;  // that one has its own
    throw Refused{
        "trace needs a command: show, digest, check, diff, export or tla-model; calm trace --help explains them"};
  });

  auto* const show_command = trace->add_subcommand("show", "print the events, one a line, or explain one of them");
  add_file(*show_command, options);
  show_command->add_option("--of", options.of, "only events of this task or region, for example t4 or r1");
  show_command->add_option("--event", options.event, "explain the event with this number")->check(CLI::PositiveNumber);
  set_action(*show_command, status, [&options] { show(options); });

  auto* const digest_command = trace->add_subcommand("digest", "print the digests: equal ones mean equal runs");
  add_file(*digest_command, options);
  set_action(*digest_command, status, [&options] { digest(options); });

  auto* const check_command =
      trace->add_subcommand("check", "check the trace against the laws, knowing only its events");
  add_file(*check_command, options);
  set_action(*check_command, status, [&options] { return check(options); });

  auto* const diff_command = trace->add_subcommand(
      "diff", "compare two runs: the same up to the order of steps that commute, or the first layer that differs");
  diff_command->add_option("A", options.file, "a trace, in the binary or the JSON form")->required();
  diff_command->add_option("B", options.other, "another one")->required();
  set_action(*diff_command, status,
             [&options] { return print_difference(load(options.file).trace, load(options.other).trace); });

  auto* const export_command = trace->add_subcommand("export", "write the trace in another form");
  add_file(*export_command, options);
  add_output(*export_command, options);
  export_command
      ->add_option(
          "--format", options.format,
          "html: a timeline to open in a browser; perfetto: for ui.perfetto.dev; json: every field, with names; "
          "tla: a TLA+ module; binary: the compact form")
      ->required()
      ->check(CLI::IsMember({"html", "perfetto", "json", "tla", "binary"}));
  export_command->add_option("--axis", options.axis, "of perfetto: order, one microsecond an event, or time")
      ->check(CLI::IsMember({"order", "time"}));
  set_action(*export_command, status, [&options] { write(options.output, exported(load(options.file), options)); });

  auto* const model =
      trace->add_subcommand("tla-model", "write the TLA+ module of the kernel, which --format tla uses");
  add_output(*model, options);
  set_action(*model, status, [&options] { write(options.output, observe::tla_model()); });
}

}  // namespace calm::tool
