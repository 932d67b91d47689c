#include "apps/calm/scenario/expression.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <utility>

#include "apps/calm/scenario/functions.hpp"
#include "apps/calm/scenario/time_text.hpp"
#include "calm/model/text.hpp"
#include "calm/model/time.hpp"

namespace calm::scenario {
namespace {

constexpr std::size_t depth_max = 32;
constexpr std::size_t argument_max = 16;

// Reads an expression; with values it works it out, without it only looks whether it could be.
class Reader {
 public:
  Reader(std::string_view text, Place place, const std::vector<std::string_view>& names, const Values* values)
      : text_(text), place_(place), names_(names), values_(values) {}

  Value read_all() {
    Value value = read(0);
    skip_blanks();
    if (at_ != text_.size()) fail("the expression goes on where it should end: " + quoted(text_.substr(at_)));
    return value;
  }

 private:
  // The text stands in quotes, one column on.
  [[noreturn]] void fail(const std::string& what) const {
    throw Problem({place_.line, place_.column + 1 + static_cast<std::uint32_t>(at_)}, what);
  }

  [[nodiscard]] char next() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
  void skip_blanks() noexcept {
    while (next() == ' ') ++at_;
  }
  static bool letter(char c) noexcept { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

  Value read(std::size_t depth) {
    if (depth > depth_max) fail("the expression is nested too deeply");
    skip_blanks();
    if (next() == '\'') return read_word();
    const std::size_t start = at_;
    while (letter(next())) ++at_;
    const std::string_view word = text_.substr(start, at_ - start);
    if (word.empty()) fail("an expression is missing; it begins with a name, a number or a 'word'");
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return read_number(word, start);
    skip_blanks();
    if (next() == '(') return read_call(word, start, depth);
    return read_name(word, start);
  }

  Value read_word() {
    const std::size_t start = ++at_;
    while (at_ < text_.size() && next() != '\'') ++at_;
    if (at_ == text_.size()) fail("a word that begins with ' does not end with one");
    return std::string(text_.substr(start, at_++ - start));
  }

  Value read_number(std::string_view word, std::size_t start) {
    if (const auto number = number_in(word)) return *number;
    if (const auto length = duration_in(word)) return *length;
    at_ = start;
    fail(quoted(word) + " is neither a number nor a length of time such as 20ms");
  }

  Value read_name(std::string_view word, std::size_t start) {
    std::vector<std::string_view> known = names_;
    for (const Constant& constant : constants()) {
      if (constant.name == word) return constant.make();
      known.push_back(constant.name);
    }
    if (values_ == nullptr && std::find(names_.begin(), names_.end(), word) != names_.end()) return false;
    if (values_ != nullptr && values_->contains(word)) return values_->find(word)->second;
    at_ = start;
    fail(unknown_text("value", word, known));
  }

  Value read_call(std::string_view name, std::size_t start, std::size_t depth) {
    const Function* function = nullptr;
    std::vector<std::string_view> known;
    for (const Function& candidate : functions()) {
      known.push_back(candidate.name);
      if (candidate.name == name) function = &candidate;
    }
    if (function == nullptr) {
      at_ = start;
      fail(unknown_text("function", name, known));
    }
    ++at_;
    const Arguments arguments = read_arguments(depth);
    return call(*function, arguments, start);
  }

  Arguments read_arguments(std::size_t depth) {
    Arguments arguments;
    for (;;) {
      arguments.push_back(read(depth + 1));
      skip_blanks();
      const char separator = next();
      if (separator != ',' && separator != ')') fail("expected , or ) after an argument");
      ++at_;
      if (separator == ')') return arguments;
      if (arguments.size() == argument_max) fail("a function takes at most 16 arguments");
    }
  }

  Value call(const Function& function, const Arguments& arguments, std::size_t start) {
    const bool repeats = function.takes.back() == '+';
    const std::size_t fixed = function.takes.size() - (repeats ? 1 : 0);
    if (repeats ? arguments.size() < fixed : arguments.size() != fixed) {
      at_ = start;
      fail(std::string(function.name) + " takes " + std::to_string(fixed) + (repeats ? " or more" : "") +
           " arguments, found " + std::to_string(arguments.size()));
    }
    if (values_ == nullptr) return false;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const char wanted = function.takes[i < fixed ? i : fixed - 1];
      if (fits(wanted, arguments[i])) continue;
      at_ = start;
      fail(std::string(function.name) + " takes " + std::string(letter_text(wanted)) + " as argument " +
           std::to_string(i + 1) + ", found " + to_string(arguments[i]));
    }
    return function.call(arguments);
  }

  std::string_view text_;
  Place place_;
  const std::vector<std::string_view>& names_;
  const Values* values_;
  std::size_t at_ = 0;
};

}  // namespace

std::string to_string(const Value& value) {
  struct Text {
    std::string operator()(bool flag) const { return flag ? "true" : "false"; }
    std::string operator()(std::uint64_t number) const { return std::to_string(number); }
    std::string operator()(Duration length) const { return calm::to_string(length); }
    std::string operator()(const std::string& word) const { return quoted(word); }
    std::string operator()(const Budget& budget) const { return calm::to_string(budget); }
    std::string operator()(const Reason& reason) const { return calm::to_string(reason); }
    std::string operator()(const ChildEnd& end) const { return to_string(end); }
  };
  return std::visit(Text(), value);
}

bool same_value(const Value& a, const Value& b) { return a == b; }

void check_expression(std::string_view text, Place place, const std::vector<std::string_view>& names) {
  (void)Reader(text, place, names, nullptr).read_all();
}

Value evaluate(std::string_view text, Place place, const Values& values) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return Reader(text, place, names, &values).read_all();
}

}  // namespace calm::scenario
