#include <array>
#include <optional>
#include <utility>

#include "calm/model/text.hpp"
#include "calm/trace/json.hpp"
#include "calm/trace/json_input.hpp"
#include "calm/trace/text.hpp"

namespace calm::trace {
namespace {

// The fields, in the order of the cases below.
constexpr std::array<std::string_view, 6> trace_fields{"format", "version", "overwritten", "digest", "events", "names"};
constexpr std::array<std::string_view, 11> event_fields{
    "sequence", "kind", "access", "worker", "position", "time_ns", "task", "region", "resource", "cause", "argument"};
constexpr std::array<std::string_view, 2> names_fields{"tasks", "resources"};
constexpr std::array<std::string_view, 3> task_fields{"name", "spawn_site", "await_site"};

class TraceReader {
 public:
  explicit TraceReader(std::string_view text) noexcept : input_(text) {}

  Outcome<NamedTrace> read() {
    const std::uint32_t seen = input_.object(trace_fields, [this](std::size_t field) { top(field); });
    for (const std::size_t field : {0U, 1U, 2U, 4U}) input_.require(seen, trace_fields, field);
    input_.end();
    if (!input_.failed() && digest_ && *digest_ != trace_digest(result_.trace)) {
      input_.fail("the digest is " + digest_text(*digest_) + ", but the events have " +
                  digest_text(trace_digest(result_.trace)) + "; they were changed");
    }
    if (input_.failed()) return err(input_.error());
    return ok(std::move(result_));
  }

 private:
  void top(std::size_t field) {
    switch (field) {
      case 0:
        if (const std::string format = input_.string(); format != "calm-trace") {
          input_.fail(quoted(format) + " is not \"calm-trace\"");
        }
        break;
      case 1:
        if (const std::uint64_t form = input_.number(); form != 1) {
          input_.fail(std::to_string(form) + " is not 1", Errc::unsupported);
        }
        break;
      case 2:
        result_.trace.overwritten = input_.number();
        break;
      case 3:
        digest();
        break;
      case 4:
        input_.array([this] { event(); });
        break;
      default:
        input_.object(names_fields, [this](std::size_t which) { names(which); });
        break;
    }
  }

  void digest() {
    const std::string text = input_.string();
    std::uint64_t value = 0;
    for (const char c : text) value = value << 4U | std::string_view("0123456789abcdef").find(c);
    if (digest_text(value) != text) return input_.fail(quoted(text) + " is no digest of 16 hexadecimal digits");
    digest_ = value;
  }

  void event() {
    Event event;
    const std::uint32_t seen =
        input_.object(event_fields, [this, &event](std::size_t field) { event_field(event, field); });
    for (const std::size_t field : {0U, 1U}) input_.require(seen, event_fields, field);
    auto& events = result_.trace.events;
    const std::uint64_t before = events.empty() ? 0 : events.back().sequence;
    if (event.sequence <= before) {
      input_.fail("sequence " + std::to_string(event.sequence) + " does not follow " + std::to_string(before));
    }
    if (event.cause >= event.sequence) {
      input_.fail("cause " + std::to_string(event.cause) + " is not before the event " +
                  std::to_string(event.sequence));
    }
    if (!input_.failed()) events.push_back(event);
  }

  void event_field(Event& event, std::size_t field) {
    switch (field) {
      case 0:
        event.sequence = input_.number();
        break;
      case 1:
        event.kind = kind();
        break;
      case 2:
        event.access = access();
        break;
      case 3:
        event.worker = static_cast<std::uint16_t>(input_.number(UINT16_MAX));
        break;
      case 4:
        event.position = static_cast<std::uint32_t>(input_.number(UINT32_MAX));
        break;
      case 5:
        event.time = Time::at_ns(input_.number(Time::max().ns()));
        break;
      case 6:
        event.task = id<TaskId>(input_.string());
        break;
      case 7:
        event.region = id<RegionId>(input_.string());
        break;
      case 8:
        event.resource = resource(input_.string());
        break;
      case 9:
        event.cause = input_.number();
        break;
      default:
        event.argument = input_.number();
        break;
    }
  }

  EventKind kind() {
    const std::string name = input_.string();
    for (const EventKindRow& row : event_kind_table) {
      if (row.name == name) return row.kind;
    }
    input_.fail(quoted(name) + " is no kind of event");
    return {};
  }

  Access access() {
    const std::string name = input_.string();
    for (const Access access : {Access::none, Access::read, Access::write}) {
      if (to_string(access) == name) return access;
    }
    input_.fail(quoted(name) + " is no access");
    return {};
  }

  ResourceId resource(const std::string& text) {
    const auto found = resource_in(text);
    if (!found) input_.fail(quoted(text) + " names no resource");
    return found.value_or(ResourceId());
  }

  template <class Id>
  Id id(const std::string& text) {
    const Id found = Id::from_bits(resource_in(text).value_or(ResourceId()).bits());
    if (!found) input_.fail(quoted(text) + " names no " + (Id::type() == IdType::task ? "task" : "region"));
    return found;
  }

  void names(std::size_t which) {
    Names& names = result_.names;
    if (which == 0) {
      input_.members([&](const std::string& key) {
        const auto [place, fresh] = names.tasks.emplace(id<TaskId>(key), TaskName());
        if (!fresh) return input_.fail("this task stands twice");
        input_.object(task_fields, [&, task = &place->second](std::size_t field) {
          (field == 0 ? task->name : field == 1 ? task->spawn_site : task->await_site) = input_.string();
        });
      });
    } else {
      input_.members([&](const std::string& key) {
        if (!names.resources.emplace(resource(key), input_.string()).second) input_.fail("this resource stands twice");
      });
    }
  }

  JsonInput input_;
  NamedTrace result_;
  std::optional<std::uint64_t> digest_;
};

}  // namespace

Outcome<NamedTrace> from_json(std::string_view text) { return TraceReader(text).read(); }

}  // namespace calm::trace
