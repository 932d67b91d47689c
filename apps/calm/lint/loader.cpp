#include "apps/calm/lint/loader.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "apps/calm/lint/words.hpp"
#include "apps/calm/scenario/problem.hpp"
#include "calm/model/text.hpp"

namespace calm::lint {
namespace {

using Words = std::vector<std::string_view>;

const Words line_words = {"function", "reserve", "commit", "abort", "call", "branch", "or", "loop", "return", "end"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name(std::string_view word) {
  return !word.empty() && is_letter(word.front()) && std::all_of(word.begin(), word.end(), [](char c) {
    return is_letter(c) || is_digit(c) || c == ':' || c == '.';
  });
}

template <std::size_t size>
std::optional<std::size_t> index_of(const std::array<std::string_view, size>& words, std::string_view word) {
  const auto* const found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<std::size_t>(found - words.begin());
}

Words split(std::string_view line) {
  Words words;
  while (true) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos) return words;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    line.remove_prefix(end);
  }
}

/// Reads one text, line by line; what is open is a stack of blocks.
class Loader {
 public:
  Loader(Program& program, std::string_view path) : program_(program), here_{std::string(path), 0} {}

  void load(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++here_.line;
      load_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (inside_) {
      const Place& open = open_.empty() ? function_.written : open_.back().written;
      refuse("the text ends, and what begins in line " + std::to_string(open.line) + " has no end");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& text) const { throw Problem(here_, text); }

  void load_line(std::string_view line) {
    line = line.substr(0, line.find('#'));
    for (const char c : line) {
      if ((c < ' ' && c != '\t' && c != '\r') || c > '~')
        refuse("outside of comments a text of obligations is plain ASCII");
    }
    Words words = split(line);
    if (words.empty()) return;
    place_ = take_place(words);
    if (words.empty()) refuse("there is nothing before `at`");
    const std::string_view verb = words.front();
    words.erase(words.begin());
    if (verb == "function") return begin_function(words);
    if (std::find(line_words.begin(), line_words.end(), verb) == line_words.end()) {
      refuse(scenario::unknown_text("word", verb, line_words));
    }
    if (!inside_) refuse(calm::quoted(verb) + " stands outside of a function");
    if (verb == "end") return end(words);
    if (verb == "or") return next_block(words);
    if (++statements_ > statements_max) {
      refuse("a function has at most " + std::to_string(statements_max) + " statements");
    }
    add(verb, words);
  }

  // Takes `at FILE:LINE` from the end of a line. Gives: that place, or the one in the text.
  Place take_place(Words& words) const {
    if (words.back() == "at") refuse("`at` is followed by FILE:LINE");
    if (words.size() < 2 || words[words.size() - 2] != "at") return here_;
    const std::string_view word = words.back();
    words.resize(words.size() - 2);
    const std::size_t colon = word.rfind(':');
    std::uint32_t line = 0;
    if (colon != std::string_view::npos && colon > 0) {
      const char* const last = word.data() + word.size();
      const auto [stop, error] = std::from_chars(word.data() + colon + 1, last, line);
      if (error != std::errc() || stop != last) line = 0;
    }
    if (line == 0) refuse("`at` is followed by FILE:LINE, not by " + calm::quoted(word));
    return {std::string(word.substr(0, colon)), line};
  }

  std::string name(std::string_view word, std::string_view what) const {
    if (!is_name(word)) {
      refuse(calm::quoted(word) + " is no name of a " + std::string(what) +
             "; one begins with a letter and has letters, digits, _ : and .");
    }
    return std::string(word);
  }

  void begin_function(const Words& words) {
    if (inside_) refuse("a function stands inside of " + function_.name + "; is an end missing?");
    if (words.empty()) refuse("function needs a name");
    function_ = {};
    inside_ = true;
    function_.name = name(words.front(), "function");
    function_.place = place_;
    function_.written = here_;
    statements_ = 0;
    if (words.size() % 2 == 0) refuse("a parameter is two words, takes, lends or gives and a name");
    for (std::size_t i = 1; i < words.size(); i += 2) {
      const auto mode = index_of(mode_words, words[i]);
      if (!mode) refuse(scenario::unknown_text("mode", words[i], {mode_words.begin(), mode_words.end()}));
      Parameter parameter{static_cast<Mode>(*mode), name(words[i + 1], "variable")};
      for (const Parameter& other : function_.parameters) {
        if (other.name == parameter.name) refuse("there are two parameters " + calm::quoted(parameter.name));
      }
      function_.parameters.push_back(std::move(parameter));
    }
  }

  void add(std::string_view verb, const Words& words) {
    Statement statement;
    statement.place = place_;
    statement.written = here_;
    if (verb == "reserve") {
      statement.verb = Verb::reserve;
      expect(words, 2, "reserve is followed by a variable and a kind");
      statement.name = name(words[0], "variable");
      const auto kind = index_of(kind_words, words[1]);
      if (!kind) refuse(scenario::unknown_text("kind", words[1], {kind_words.begin(), kind_words.end()}));
      statement.kind = static_cast<ObligationKind>(*kind);
    } else if (verb == "commit" || verb == "abort") {
      statement.verb = verb == "commit" ? Verb::commit : Verb::abort;
      expect(words, 1, std::string(verb) + " is followed by a variable");
      statement.name = name(words[0], "variable");
    } else if (verb == "call") {
      add_call(statement, words);
    } else {
      expect(words, 0, std::string(verb) + " stands alone in its line");
      statement.verb = verb == "branch" ? Verb::branch : verb == "loop" ? Verb::loop : Verb::leave;
    }
    if (statement.verb == Verb::branch || statement.verb == Verb::loop) {
      if (open_.size() == nesting_max) {
        refuse("branches and loops are nested deeper than " + std::to_string(nesting_max));
      }
      statement.blocks.emplace_back();
      open_.push_back(std::move(statement));
    } else {
      block().push_back(std::move(statement));
    }
  }

  void add_call(Statement& statement, const Words& words) const {
    statement.verb = Verb::call;
    if (words.empty()) refuse("call is followed by a function and the variables that are passed");
    statement.name = name(words.front(), "function");
    for (std::size_t i = 1; i < words.size(); ++i) {
      std::string argument = name(words[i], "variable");
      if (std::find(statement.arguments.begin(), statement.arguments.end(), argument) != statement.arguments.end()) {
        refuse(calm::quoted(argument) + " is passed twice");
      }
      statement.arguments.push_back(std::move(argument));
    }
  }

  void expect(const Words& words, std::size_t count, const std::string& text) const {
    if (words.size() != count) refuse(text);
  }

  void next_block(const Words& words) {
    expect(words, 0, "or stands alone in its line");
    if (open_.empty() || open_.back().verb != Verb::branch) refuse("or stands outside of a branch");
    open_.back().blocks.emplace_back();
  }

  void end(const Words& words) {
    expect(words, 0, "end stands alone in its line");
    if (open_.empty()) {
      function_.end = place_;
      program_.functions.push_back(std::move(function_));
      inside_ = false;
      return;
    }
    Statement closed = std::move(open_.back());
    open_.pop_back();
    if (closed.verb == Verb::branch && closed.blocks.size() == 1) {
      refuse("the branch of line " + std::to_string(closed.written.line) +
             " has one way only; an empty one after or is a way");
    }
    block().push_back(std::move(closed));
  }

  std::vector<Statement>& block() { return open_.empty() ? function_.body : open_.back().blocks.back(); }

  Program& program_;
  Place here_;
  Place place_{};        // of the line, as `at` says
  bool inside_ = false;  // of a function
  Function function_{};
  std::vector<Statement> open_{};  // branches and loops without their end, the outermost first
  std::size_t statements_ = 0;
};

}  // namespace

void load_text(Program& program, std::string_view path, std::string_view text) { Loader(program, path).load(text); }

}  // namespace calm::lint
