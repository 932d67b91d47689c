#include "calm/check/require.hpp"
#include "calm/trace/json.hpp"
#include "calm/trace/json_text.hpp"
#include "calm/trace/text.hpp"

namespace calm::trace {
namespace {

class Fields {
 public:
  explicit Fields(std::string& out) : out_(out) { out_.push_back('{'); }

  template <class Value>
  void always(std::string_view name, const Value& value) {
    if (!first_) out_.append(", ");
    first_ = false;
    append_json(out_, name);
    out_.append(": ");
    append_json(out_, value);
  }
  void unless_zero(std::string_view name, std::uint64_t number) {
    if (number != 0) always(name, number);
  }
  template <class Id>
  void unless_none(std::string_view name, Id id) {
    if (id) always(name, std::string_view(to_string(id)));
  }
  void unless_empty(std::string_view name, const std::string& text) {
    if (!text.empty()) always(name, std::string_view(text));
  }
  void end() { out_.push_back('}'); }

 private:
  std::string& out_;
  bool first_ = true;
};

void append_event(std::string& out, const Event& event) {
  Fields fields(out);
  fields.always("sequence", event.sequence);
  fields.always("kind", to_string(event.kind));
  if (event.access != Access::none) fields.always("access", to_string(event.access));
  fields.unless_zero("worker", event.worker);
  fields.unless_zero("position", event.position);
  fields.unless_zero("time_ns", event.time.ns());
  fields.unless_none("task", event.task);
  fields.unless_none("region", event.region);
  fields.unless_none("resource", event.resource);
  fields.unless_zero("cause", event.cause);
  fields.unless_zero("argument", event.argument);
  fields.end();
}

void append_task_name(std::string& out, const TaskName& task) {
  Fields fields(out);
  fields.unless_empty("name", task.name);
  fields.unless_empty("spawn_site", task.spawn_site);
  fields.unless_empty("await_site", task.await_site);
  fields.end();
}

void append_names(std::string& out, const Names& names) {
  out.append(",\n  \"names\": {\n    \"tasks\": {");
  std::string_view before = "\n      ";
  for (const auto& [id, task] : names.tasks) {
    append_json(out.append(before), std::string_view(to_string(id)));
    append_task_name(out.append(": "), task);
    before = ",\n      ";
  }
  out.append("},\n    \"resources\": {");
  before = "\n      ";
  for (const auto& [id, name] : names.resources) {
    append_json(out.append(before), std::string_view(to_string(id)));
    append_json(out.append(": "), std::string_view(name));
    before = ",\n      ";
  }
  out.append("}\n  }");
}

}  // namespace

std::string to_json(const Trace& trace, const Names& names) {
  std::string out = "{\n  \"format\": \"calm-trace\",\n  \"version\": 1,\n  \"overwritten\": ";
  append_json(out, trace.overwritten);
  append_json(out.append(",\n  \"digest\": "), std::string_view(digest_text(trace_digest(trace))));
  out.append(",\n  \"events\": [");
  std::uint64_t before = 0;
  for (const Event& event : trace.events) {
    CALM_REQUIRE(LAB_11, event.sequence > before && event.cause < event.sequence, event.sequence, before, event.cause);
    out.append(before == 0 ? "\n    " : ",\n    ");
    append_event(out, event);
    before = event.sequence;
  }
  out.append("\n  ]");
  if (!names.empty()) append_names(out, names);
  return out.append("\n}\n");
}

}  // namespace calm::trace
