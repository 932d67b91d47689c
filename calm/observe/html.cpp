#include "calm/observe/html.hpp"

#include "calm/observe/page.hpp"
#include "calm/observe/story.hpp"
#include "calm/observe/words.hpp"
#include "calm/trace/json_text.hpp"
#include "calm/trace/text.hpp"

namespace calm::observe {
namespace {

using trace::append_json;

void append_text(std::string& out, std::string_view name, std::string_view text) {
  append_json(out, name);
  out.push_back(':');
  append_json(out, text);
}

/// A place in a list as JavaScript has it: -1 for none.
std::string place_text(std::size_t place) { return place == Row::none ? "-1" : std::to_string(place); }

void append_kinds(std::string& out) {
  out.append("\"kinds\":[");
  for (const trace::EventKindRow& row : trace::event_kind_table) {
    const KindLore& lore = lore_of(row.kind);
    append_text(out.append(out.back() == '[' ? "{" : ",{"), "name", row.name);
    append_text(out.append(","), "means", lore.means);
    append_text(out.append(","), "laws", lore.laws);
    out.push_back('}');
  }
  out.append("]");
}

constexpr std::string_view type_text(Row::Type type) noexcept {
  switch (type) {
    case Row::Type::runtime:
      return "runtime";
    case Row::Type::region:
      return "region";
    case Row::Type::task:
      return "task";
  }
  return {};
}

constexpr std::string_view type_text(Span::Type type) noexcept {
  switch (type) {
    case Span::Type::poll:
      return "poll";
    case Span::Type::wait:
      return "wait";
    case Span::Type::state:
      return "state";
    case Span::Type::cancel:
      return "cancel";
    case Span::Type::obligation:
      return "obligation";
  }
  return {};
}

void append_rows(std::string& out, const Story& story, const trace::Names& names) {
  out.append("\"rows\":[");
  for (const Row& row : story.rows) {
    append_text(out.append(out.back() == '[' ? "\n{" : ",\n{"), "type", type_text(row.type));
    append_text(out.append(","), "title", title_of(row, names));
    out.append(",\"parent\":").append(place_text(row.parent)).append(",\"depth\":").append(std::to_string(row.depth));
    if (row.finalizer) out.append(",\"finalizer\":true");
    if (const auto name = names.tasks.find(row.task); row.task && name != names.tasks.end()) {
      append_text(out.append(","), "spawn", name->second.spawn_site);
      append_text(out.append(","), "await", name->second.await_site);
    }
    out.push_back('}');
  }
  out.append("]");
}

/// sequence, kind from 0, time in ns, row, cause (-1 none, -2 not in the trace), sentence, worker
void append_events(std::string& out, const trace::Trace& trace, const Story& story, const trace::Names& names) {
  out.append("\"events\":[");
  for (std::size_t i = 0; i < trace.events.size(); ++i) {
    const trace::Event& event = trace.events[i];
    append_json(out.append(i == 0 ? "\n[" : ",\n["), event.sequence);
    out.append(",").append(std::to_string(static_cast<int>(event.kind) - 1)).append(",");
    append_json(out, event.time.ns());
    const bool lost = event.cause != 0 && story.cause_of[i] == Row::none;
    out.append(",").append(place_text(story.row_of[i])).append(",").append(lost ? "-2" : place_text(story.cause_of[i]));
    append_json(out.append(","), sentence_of(event, names));
    out.append(",").append(std::to_string(event.worker)).append("]");
  }
  out.append("]");
}

/// type, row, from, to, after, through, open, state
void append_spans(std::string& out, const Story& story) {
  const auto flag = [](bool set) { return set ? ",1" : ",0"; };
  out.append("\"spans\":[");
  for (const Span& span : story.spans) {
    append_json(out.append(out.back() == '[' ? "\n[" : ",\n["), type_text(span.type));
    for (const std::size_t number : {span.row, span.from, span.to}) out.append(",").append(std::to_string(number));
    out.append(flag(span.after)).append(flag(span.through)).append(flag(span.open));
    append_json(out.append(","), span.type == Span::Type::state ? to_string(span.state) : "");
    out.push_back(']');
  }
  out.append("]");
}

std::string data_of(const trace::Trace& trace, const trace::Names& names, std::string_view title) {
  const Story story = story_of(trace);
  std::string out = "{";
  append_text(out, "title", title);
  append_text(out.append(","), "digest", trace::digest_text(trace_digest(trace)));
  append_json(out.append(",\"overwritten\":"), trace.overwritten);
  out.append(",\n");
  append_kinds(out);
  out.append(",\n");
  append_rows(out, story, names);
  out.append(",\n");
  append_events(out, trace, story, names);
  out.append(",\n");
  append_spans(out, story);
  return out.append("}");
}

}  // namespace

std::string to_html(const trace::Trace& trace, const trace::Names& names, std::string_view title) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      // Nothing is loaded from anywhere, whatever the data says.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'\">\n<title>calm trace</title>\n<style>\n";
  out.append(page_style).append("</style>\n</head>\n<body>\n").append(page_body);
  out.append("<script type=\"application/json\" id=\"data\">").append(data_of(trace, names, title));
  out.append("</script>\n<script>\n\"use strict\";\n(() => {\n").append(page_script);
  return out.append("})();\n</script>\n</body>\n</html>\n");
}

}  // namespace calm::observe
