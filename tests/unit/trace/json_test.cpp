#include "calm/trace/json.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "calm/trace/codec.hpp"
#include "calm/trace/forms.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {

inline std::ostream& operator<<(std::ostream& out, const NamedTrace& named) {
  return out << to_json(named.trace, named.names);
}

namespace {

constexpr std::string_view head = R"({"format": "calm-trace", "version": 1, "overwritten": 0, "events": [)";

std::string message_of(std::string_view text) {
  const auto read = from_json(text);
  return read.is_err() ? to_string(read.error()) : "read without error";
}
std::string message_of_event(std::string_view event) {
  return message_of(std::string(head).append("\n").append(event).append("]}"));
}

/// Any names, with letters that JSON must escape.
Names any_names() {
  Names names;
  const auto text =
      rc::gen::container<std::string>(rc::gen::element('a', 'Z', '"', '\\', '\n', '\0', '<', '/', '\x7F', '\x01', ' '));
  for (int i = *rc::gen::inRange(0, 4); i > 0; --i) {
    names.tasks[task(*rc::gen::arbitrary<std::uint32_t>())] = {*text, *text, *text + "é–😀"};
    names.resources[ResourceId::registered(3, *rc::gen::arbitrary<std::uint32_t>())] = *text;
  }
  return names;
}

RC_GTEST_PROP(TraceJson, LAB_11_the_json_form_gives_back_every_trace_and_its_names, ()) {
  const NamedTrace named{*any_trace(), any_names()};
  const auto read = from_json(to_json(named.trace, named.names));
  RC_ASSERT(read.is_ok());
  RC_ASSERT(read.value() == named);
}

RC_GTEST_PROP(TraceJson, LAB_11_both_forms_convert_to_each_other_and_have_one_digest, ()) {
  const Trace trace = *any_trace();
  const auto bytes = encode(trace);
  const Trace from_binary = decode(bytes).value();
  const Trace from_text = from_json(to_json(from_binary)).value().trace;
  RC_ASSERT(encode(from_text) == bytes);
  RC_ASSERT(trace_digest(from_text) == trace_digest(trace));
  RC_ASSERT(semantic_digest(from_text) == semantic_digest(trace));
}

RC_GTEST_PROP(TraceJson, answers_any_change_of_a_text, (std::string noise)) {
  std::string text = to_json({.overwritten = 1, .events = {patterned(3), patterned(7)}},
                             {.tasks = {{task(1), {"a", "b", "c"}}}, .resources = {}});
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  text.replace(at, *rc::gen::inRange<std::size_t>(0, 9), noise);
  const auto read = from_json(text);
  if (read.is_err()) RC_ASSERT(to_string(read.error()).find("trace line ") != std::string::npos);
  if (read.is_ok()) RC_ASSERT(from_json(to_json(read.value().trace, read.value().names)).value() == read.value());
}

TEST(TraceJson, is_one_object_with_an_event_a_line) {
  Event event{.kind = EventKind::cancel_request, .access = Access::write, .sequence = 4, .task = task(2)};
  event.argument = UINT64_MAX;
  EXPECT_EQ(
      to_json({.overwritten = 3, .events = {event}}, {.tasks = {{task(2), {"</script>", "", ""}}}, .resources = {}}),
      R"({
  "format": "calm-trace",
  "version": 1,
  "overwritten": 3,
  "digest": ")" +
          digest_text(trace_digest({.overwritten = 3, .events = {event}})) + R"(",
  "events": [
    {"sequence": 4, "kind": "cancel request", "access": "write", "task": "t2", "argument": "18446744073709551615"}
  ],
  "names": {
    "tasks": {
      "t2": {"name": "\u003c/script>"}},
    "resources": {}
  }
}
)");
}

TEST(TraceJson, replaces_bytes_of_a_name_that_are_no_utf8) {
  for (const std::string_view bad : {"\x80", "\xC1\x81", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xE2\x82", "\xFF"}) {
    const Names names{.tasks = {}, .resources = {{region(1), std::string("a").append(bad)}}};
    const auto read = from_json(to_json({}, names));
    ASSERT_TRUE(read.is_ok()) << read.explain();
    EXPECT_TRUE(read.value().names.resources.at(region(1)).starts_with("a\xEF\xBF\xBD")) << bad;
  }
}

TEST(TraceJson, takes_fields_in_any_order_and_every_escape) {
  const auto read = from_json(R"({ "names" : {"resources":{"x5/2":"\u00e9\ud83d\ude00\"\\\/\b\f\n\r\t"}},
    "events":[{"kind":"poll","time_ns":"7","sequence":"18446744073709551615"}],
    "overwritten":"0","version":1,"format":"calm-trace"} )");
  ASSERT_TRUE(read.is_ok()) << read.explain();
  EXPECT_EQ(read.value().names.resources.at(ResourceId::registered(5, 2)), "é😀\"\\/\b\f\n\r\t");
  ASSERT_EQ(read.value().trace.events.size(), 1U);
  EXPECT_EQ(read.value().trace.events[0].sequence, UINT64_MAX);
  EXPECT_EQ(read.value().trace.events[0].time, Time::at_ns(7));
}

TEST(TraceJson, LAB_11_names_line_column_and_field_of_what_is_wrong_in_an_event) {
  const auto at = [](int column, std::string_view field, std::string_view what) {
    return "protocol: trace line 2, column " + std::to_string(column) + ", field \"events[0]" + std::string(field) +
           "\": " + std::string(what);
  };
  EXPECT_EQ(message_of_event(R"({"sequence": 1, "kind": "pol"})"), at(25, ".kind", R"("pol" is no kind of event)"));
  EXPECT_EQ(message_of_event(R"({"sequence": 1, "kind": "poll", "access": "x"})"),
            at(43, ".access", R"("x" is no access)"));
  EXPECT_EQ(message_of_event(R"({"kind": "poll"})"), at(16, "", R"(the field "sequence" is missing)"));
  EXPECT_EQ(message_of_event(R"({"sequence": 1})"), at(15, "", R"(the field "kind" is missing)"));
  EXPECT_EQ(message_of_event(R"({"sequence": 0, "kind": "poll"})"), at(31, "", "sequence 0 does not follow 0"));
  EXPECT_EQ(message_of_event(R"({"sequence": 2, "kind": "poll", "cause": 2})"),
            at(43, "", "cause 2 is not before the event 2"));
  EXPECT_EQ(message_of_event(R"({"sequence": 1.0})"), at(14, ".sequence", R"(expected a whole number, found "1.0")"));
  EXPECT_EQ(message_of_event(R"({"sequence": -1})"), at(14, ".sequence", R"(expected a whole number, found "-1")"));
  EXPECT_EQ(message_of_event(R"({"sequence": "01"})"), at(14, ".sequence", R"(expected a whole number, found "01")"));
  EXPECT_EQ(message_of_event(R"({"sequence": true})"), at(14, ".sequence", R"(expected a whole number, found "t")"));
  EXPECT_EQ(message_of_event(R"({"sequence": 18446744073709551616})"),
            at(14, ".sequence", "18446744073709551616 is more than 18446744073709551615"));
  EXPECT_EQ(message_of_event(R"({"worker": 65536})"), at(12, ".worker", "65536 is more than 65535"));
  EXPECT_EQ(message_of_event(R"({"position": 4294967296})"), at(14, ".position", "4294967296 is more than 4294967295"));
  EXPECT_EQ(message_of_event(R"({"time_ns": "18446744073709551615"})"),
            at(13, ".time_ns", "18446744073709551615 is more than 18446744073709551614"));
  EXPECT_EQ(message_of_event(R"({"task": "r1"})"), at(10, ".task", R"("r1" names no task)"));
  EXPECT_EQ(message_of_event(R"({"region": "t1"})"), at(12, ".region", R"("t1" names no region)"));
  for (const char* bad :
       {"none", "", "q1", "t01", "t", "t1.1", "t1.0", "t1.16777216", "x1/0", "x2147483648", "c1 ", "t4294967296"}) {
    const std::string name(bad);
    EXPECT_EQ(message_of_event(R"({"resource": ")" + name + R"("})"),
              at(14, ".resource", '"' + name + "\" names no resource"));
  }
  EXPECT_EQ(message_of_event(R"({"sequence": 1, "sequence": 1})"), at(27, ".sequence", "this field stands twice"));
  EXPECT_EQ(message_of_event(R"({"kid": 1})"),
            at(7, ".kid",
               "this field is not known; there are sequence, kind, access, worker, position, time_ns, task, region, "
               "resource, cause, argument"));
}

TEST(TraceJson, names_what_is_wrong_with_the_rest) {
  EXPECT_EQ(message_of(""), "protocol: trace line 1, column 1: expected an object, the text ends");
  EXPECT_EQ(message_of("[]"), "protocol: trace line 1, column 1: expected an object, found \"[\"");
  EXPECT_EQ(message_of("{}"), "protocol: trace line 1, column 2: the field \"format\" is missing");
  EXPECT_EQ(message_of(R"({"format": "x"})"),
            R"(protocol: trace line 1, column 12, field "format": "x" is not "calm-trace")");
  EXPECT_EQ(message_of(R"({"version": 2})"), R"(unsupported: trace line 1, column 13, field "version": 2 is not 1)");
  EXPECT_EQ(message_of(std::string(head) + "]} x"),
            "protocol: trace line 1, column 72: the trace ends before this, found \"x\"");
  EXPECT_EQ(message_of(std::string(head) + "] 1"),
            "protocol: trace line 1, column 71: expected \",\" or \"}\", found \"1\"");
  EXPECT_EQ(message_of(std::string(head) + "{},]}"),
            R"(protocol: trace line 1, column 70, field "events[0]": the field "sequence" is missing)");
  EXPECT_EQ(message_of("{\"format\""), "protocol: trace line 1, column 10: expected \":\", the text ends");
  EXPECT_EQ(message_of("{\"for"), "protocol: trace line 1, column 2: the string does not end");
  EXPECT_EQ(message_of("{\"\x80"), "protocol: trace line 1, column 2: the string is no UTF-8");
  EXPECT_EQ(message_of("{\"\n"),
            "protocol: trace line 1, column 2: a control character stands in the string without an escape");
  for (const char* bad : {R"({"\q")", R"({"\u12")", R"({"\u12x4")", R"({"\)", R"({"\u+123")"}) {
    EXPECT_EQ(message_of(bad), "protocol: trace line 1, column 2: this is no escape of JSON") << bad;
  }
  for (const char* bad : {R"({"\ud800\u0041")", R"({"\udc00")"}) {
    EXPECT_EQ(message_of(bad), "protocol: trace line 1, column 2: half of a pair of surrogates stands alone") << bad;
  }
  EXPECT_EQ(message_of(R"({"digest": "12"})"),
            R"(protocol: trace line 1, column 12, field "digest": "12" is no digest of 16 hexadecimal digits)");
  EXPECT_EQ(
      message_of(R"({"digest": "12345678 0abcdef"})"),
      R"(protocol: trace line 1, column 12, field "digest": "12345678 0abcdef" is no digest of 16 hexadecimal digits)");
  EXPECT_EQ(message_of(R"({"names": {"tasks": {"t1": {}, "t1": {}}}})"),
            R"(protocol: trace line 1, column 36, field "names.tasks.t1": this task stands twice)");
  EXPECT_EQ(message_of(R"({"names": {"resources": {"t1": "", "t1": ""}}})"),
            R"(protocol: trace line 1, column 42, field "names.resources.t1": this resource stands twice)");
}

TEST(TraceJson, finds_a_changed_event_by_the_digest) {
  std::string text = to_json({.overwritten = 0, .events = {patterned(3)}});
  text.replace(text.find("\"t3\""), 4, "\"t4\"");
  EXPECT_NE(message_of(text).find("; they were changed"), std::string::npos) << message_of(text);
}

TEST(TraceForms, LAB_11_a_trace_is_read_from_either_form) {
  const Trace trace{.overwritten = 2, .events = {patterned(4), patterned(6)}};
  const auto bytes = encode(trace);
  const std::string_view binary(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  EXPECT_EQ(read_trace(binary).value().trace, trace);
  EXPECT_EQ(read_trace("\n " + to_json(trace)).value().trace, trace);
  EXPECT_TRUE(read_trace(binary.substr(0, binary.size() - 1)).is_err());
  for (const std::string_view bad : {"", " ", "<html>"}) {
    EXPECT_EQ(to_string(read_trace(bad).error()),
              "protocol: this is no trace of calm: it begins neither with CALMTRC1 nor with {");
  }
}

}  // namespace
}  // namespace calm::trace
