#include "calm/check/report.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>

#include "calm/check/place.hpp"
#include "calm/check/text.hpp"

namespace calm::check {
namespace {

// [H1] set_handler releases what the handler reads -> fail acquires
constinit std::atomic<Handler> current_handler{nullptr};

constinit thread_local bool reporting = false;

// The most each part may take. Together with the fixed words they fit the buffer, so a long value never hides the law.
constexpr std::size_t condition_max = 400;
constexpr std::size_t values_max = 1000;
constexpr std::size_t file_max = 160;
constexpr std::size_t function_max = 160;
constexpr std::size_t law_max = 40;
constexpr std::size_t words_max = 256;
static_assert(condition_max + values_max + file_max + function_max + law_max + words_max <= 2048);

constexpr std::string_view headline(Kind kind) {
  switch (kind) {
    case Kind::require:
      return "requirement not met";
    case Kind::invariant:
      return "invariant broken";
    case Kind::slow:
      return "invariant broken (slow check)";
  }
  return "check failed";
}

constexpr std::string_view advice(Kind kind) {
  switch (kind) {
    case Kind::require:
      return "fix the caller: this must hold before the call is made";
    case Kind::invariant:
    case Kind::slow:
      return "this is a bug in calm: report it with this text";
  }
  return "";
}

void put_condition(Text& text, const Site& site) {
  const Text::Window window(text, condition_max);
  text.put_line(site.condition);
}

void put_values(Text& text, std::initializer_list<Value> values) {
  const Text::Window window(text, values_max);
  std::size_t left = values.size();
  for (const Value& value : values) {
    // Each value may take an equal share of what is left: an id behind a long text stays in sight.
    const Text::Window share(text, text.room() / left);
    if (left-- != values.size()) text.put(", ");
    const bool is_message = *value.name == '"';  // a literal is its own name
    if (!is_message) {
      text.put_line(value.name);
      text.put(" = ");
    }
    value.print(text, value);
  }
}

void put_file(Text& text, const Site& site) {
  const Text::Window window(text, file_max);
  text.put_line(short_file(site.file));
}

void put_function(Text& text, const Site& site) {
  const Text::Window window(text, function_max);
  const FunctionName function = short_function(site.function);
  if (function.scope.size != 0) {
    text.put_line({function.scope.data, function.scope.size});
    text.put("::");
  }
  text.put_line({function.name.data, function.name.size});
  if (function.in_lambda) text.put(", in a lambda");
}

void put_law(Text& text, const Site& site) {
  const Text::Window window(text, law_max);
  for (const char* at = site.law; *at != '\0'; ++at) text.put(*at == '_' ? "-" : std::string_view(at, 1));
}

void write_to_stderr(std::string_view text) noexcept {
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());  // nobody left to tell
}

// A handler, or a value's to_string, broke a law itself. Reporting that the usual way could go on for ever.
[[noreturn]] void fail_again(const Site& site) noexcept {
  char buffer[1024];
  Text text(buffer, sizeof buffer - 1);
  text.put("calm: a check failed while another was being reported: ");
  put_condition(text, site);
  text.put(" at ");
  put_file(text, site);
  text.put(":");
  text.put_number(site.line);
  text.put(", law ");
  put_law(text, site);
  buffer[text.size()] = '\n';
  write_to_stderr({buffer, text.size() + 1});
  std::abort();
}

}  // namespace

Report::Report(const Site& site, std::initializer_list<Value> values) noexcept : kind_(site.kind), line_(site.line) {
  Text text(buffer_, sizeof buffer_);
  const auto part = [&text](auto put, const auto& from) {
    const std::size_t start = text.size();
    put(text, from);
    return Part{start, text.size() - start};
  };
  text.put("calm: ");
  text.put(headline(kind_));
  text.put(": ");
  condition_ = part(put_condition, site);
  if (values.size() != 0) {
    text.put("\n  values: ");
    values_ = part(put_values, values);
  }
  text.put("\n  at:     ");
  file_ = part(put_file, site);
  text.put(":");
  text.put_number(line_);
  text.put(" in ");
  function_ = part(put_function, site);
  text.put("\n  law:    ");
  law_ = part(put_law, site);
  text.put("\n  next:   ");
  text.put(advice(kind_));
  text.put("\n");
  text_ = {0, text.size()};
}

Handler set_handler(Handler handler) noexcept {
  return current_handler.exchange(handler, std::memory_order_acq_rel);  // [H1]
}

namespace detail {

const char* next_text(const char*& texts) noexcept {
  const char* text = texts;
  texts += std::strlen(text) + 1;
  return text;
}

Site read_site(Kind kind, const char*& texts, const char* function) noexcept {
  const char* law = next_text(texts);
  const char* condition = next_text(texts);
  const char* file = next_text(texts);
  const int line = std::atoi(next_text(texts));
  return {kind, law, condition, file, line, function};
}

void fail(const Site& site, std::initializer_list<Value> values) {
  if (reporting) fail_again(site);
  struct Reporting {
    Reporting() noexcept { reporting = true; }
    ~Reporting() { reporting = false; }  // a handler that throws leaves a thread that can report again
  } const guard;
  const Report report(site, values);
  if (const Handler handler = current_handler.load(std::memory_order_acquire); handler != nullptr) {  // [H1]
    handler(report);
  } else {
    write_to_stderr(report.text());
  }
  std::abort();
}

}  // namespace detail
}  // namespace calm::check
