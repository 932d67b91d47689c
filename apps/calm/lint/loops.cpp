#include "apps/calm/lint/loops.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include "apps/calm/lint/loop_bound.hpp"

namespace calm::lint {
namespace {

constexpr std::string_view check_name = "calm-long-loop";

bool is_class_word(std::string_view word) noexcept {
  return word == "class" || word == "struct" || word == "union" || word == "enum" || word == "namespace";
}

/// A part of the tokens, [from, to).
struct Range {
  std::size_t from;
  std::size_t to;
};

/// A loop as a statement: keyword, brackets and body.
struct Loop {
  Range whole;
  Range body;
  std::optional<std::uint64_t> rounds;
};

class LoopFinder {
 public:
  explicit LoopFinder(std::string_view text) : tokens_(tokens_of(text)) {}

  std::vector<LongLoop> find() {
    outside({0, tokens_.all.size()});
    std::sort(found_.begin(), found_.end(), [](const LongLoop& a, const LongLoop& b) {
      return a.loop.line != b.loop.line ? a.loop.line < b.loop.line : a.loop.column < b.loop.column;
    });
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const noexcept { return tokens_.text(at); }
  [[nodiscard]] std::size_t behind_block(std::size_t at) const noexcept { return tokens_.behind(at, '{', '}'); }

  /// Goes through namespaces and classes to the functions in them.
  void outside(Range range) {
    std::size_t head = range.from;  // where the declaration begins
    for (std::size_t at = range.from; at < range.to; ++at) {
      const std::string_view word = text(at);
      if (word == ";" || word == "}") head = at + 1;
      if (word == "(") at = tokens_.behind(at, '(', ')') - 1;
      if (word != "{") continue;
      const Range block{at + 1, std::min(behind_block(at), range.to)};
      if (const std::size_t name = name_of_function({head, at}); name != at) {
        function(name, block);
        at = block.to - 1;
        head = block.to;
      } else {
        head = at + 1;  // what is inside is looked at as it comes
      }
    }
  }

  /// Gives: where the name of the function stands whose body follows these tokens; their end when it is none.
  [[nodiscard]] std::size_t name_of_function(Range head) const {
    std::size_t name = head.to;
    for (std::size_t at = head.from; at < head.to; ++at) {
      const std::string_view word = text(at);
      if (word == "template" && text(at + 1) == "<") {
        at = tokens_.behind(at + 1, '<', '>') - 1;
      } else if (is_class_word(word)) {
        return head.to;
      } else if (word == "(") {
        if (name == head.to && at > head.from && begins_a_name(text(at - 1))) name = at - 1;
        at = tokens_.behind(at, '(', ')') - 1;
      }
    }
    return text(head.to - 1) == "=" ? head.to : name;
  }

  /// Takes the functions inside a function apart, then looks at its own loops.
  void function(std::size_t name, Range body) {
    std::vector<Range> inner;
    for (std::size_t at = body.from; at < body.to; ++at) {
      const std::string_view word = text(at);
      std::size_t open = 0;
      if (word == "[") open = tokens_.lambda_body(at);
      if (open != 0 && open < body.to) {
        function(at, {open + 1, behind_block(open)});
        inner.push_back({open, behind_block(open)});
      } else if (is_class_word(word)) {
        open = class_body(at);
        if (open == 0) continue;
        outside({open + 1, behind_block(open) - 1});
        inner.push_back({open, behind_block(open)});
      } else {
        continue;
      }
      at = inner.back().to - 1;
    }
    look_at_loops(name, body, inner);
  }

  /// Gives: where the body of the class begins whose keyword stands at `at`; 0 when it has none here.
  [[nodiscard]] std::size_t class_body(std::size_t at) const {
    for (++at; at < tokens_.all.size(); ++at) {
      const std::string_view word = text(at);
      if (word == "{") return at;
      if (word == ";" || word == "(" || word == ")" || word == ">" || word == "=") return 0;
    }
    return 0;
  }

  void look_at_loops(std::size_t name, Range body, const std::vector<Range>& inner) {
    const std::vector<std::size_t> own = own_tokens(body, inner);
    const bool coroutine = std::any_of(own.begin(), own.end(), [this](std::size_t at) {
      return text(at) == "co_await" || text(at) == "co_yield" || text(at) == "co_return";
    });
    if (!coroutine) return;
    std::vector<Loop> around;
    std::set<std::size_t> ends_of_do;  // a while that belongs to a do
    for (const std::size_t at : own) {
      std::erase_if(around, [at](const Loop& loop) { return loop.whole.to <= at; });
      const std::string_view word = text(at);
      if ((word != "for" && word != "while" && word != "do") || ends_of_do.contains(at)) continue;
      const Loop loop = loop_at(at);
      if (word == "do") ends_of_do.insert(loop.body.to);
      if (!is_in_order(loop, around, own)) note(at, name);
      around.push_back(loop);
    }
  }
  [[nodiscard]] static std::vector<std::size_t> own_tokens(Range body, const std::vector<Range>& inner) {
    std::vector<std::size_t> own;
    auto next = inner.begin();
    for (std::size_t at = body.from; at < body.to; ++at) {
      if (next != inner.end() && at == next->from) at = (next++)->to;
      if (at < body.to) own.push_back(at);
    }
    return own;
  }

  [[nodiscard]] Loop loop_at(std::size_t at) const {
    if (text(at) == "do") {
      const std::size_t end = behind_statement(at + 1);
      const bool once = rounds_of_header(tokens_, end + 1) == 0;
      return {{at, behind_brackets(end + 1)}, {at + 1, end}, once ? std::optional<std::uint64_t>(1) : std::nullopt};
    }
    const std::size_t body = behind_brackets(at + 1);
    const std::size_t end = behind_statement(body);
    return {{at, end}, {body, end}, rounds_of_header(tokens_, at + 1)};
  }
  [[nodiscard]] std::size_t behind_brackets(std::size_t at) const {
    return text(at) == "(" ? tokens_.behind(at, '(', ')') : at;
  }
  [[nodiscard]] std::size_t behind_statement(std::size_t at) const {
    const std::string_view word = text(at);
    if (word == "{") return behind_block(at);
    if (word == "do") return behind_brackets(behind_statement(at + 1) + 1) + 1;
    if (word == "for" || word == "while" || word == "switch") return behind_statement(behind_brackets(at + 1));
    if (word == "if") {
      const std::size_t end = behind_statement(behind_brackets(at + (text(at + 1) == "constexpr" ? 2 : 1)));
      return text(end) == "else" ? behind_statement(end + 1) : end;
    }
    for (; at < tokens_.all.size() && text(at) != ";"; ++at) {
      if (text(at) == "(") at = tokens_.behind(at, '(', ')') - 1;
      if (text(at) == "{") at = behind_block(at) - 1;
    }
    return at + 1;
  }

  [[nodiscard]] bool is_in_order(const Loop& loop, const std::vector<Loop>& around,
                                 const std::vector<std::size_t>& own) const {
    if (lets_go(loop.whole, own) || runs_once(loop.body)) return true;
    std::uint64_t rounds = loop.rounds.value_or(UINT64_MAX);
    for (const Loop& outer : around) {
      const bool counts = outer.rounds && *outer.rounds > 1 && rounds <= loop_rounds_max && !lets_go(outer.whole, own);
      if (counts) rounds *= *outer.rounds;
    }
    return rounds <= loop_rounds_max || is_quiet(tokens_.all[loop.whole.from].line);
  }
  /// Gives: true when an await or a checkpoint is among the own tokens of the range.
  [[nodiscard]] bool lets_go(Range range, const std::vector<std::size_t>& own) const {
    return std::any_of(std::lower_bound(own.begin(), own.end(), range.from),
                       std::lower_bound(own.begin(), own.end(), range.to), [this](std::size_t at) {
                         const std::string_view word = text(at);
                         return word == "co_await" || word == "co_yield" ||
                                (word == "checkpoint" && text(at + 1) == "(");
                       });
  }
  /// Gives: true when the last statement of the body leaves the loop, and nothing before it goes round.
  [[nodiscard]] bool runs_once(Range body) const { return ends_in_leaving(body) && !may_go_round(body); }
  [[nodiscard]] bool ends_in_leaving(Range body) const {
    if (text(body.from) != "{") return text(body.from) == "break" || text(body.from) == "co_return";
    std::size_t last = body.from + 1;
    for (std::size_t at = last; at + 1 < body.to; at = std::max(at + 1, behind_statement(at))) last = at;
    return text(last) == "break" || text(last) == "co_return";
  }
  /// Gives: true when there is a `continue` of this loop. Those inside an inner loop are of that one, as is that of a lambda,
  /// which needs a loop of its own for it; a switch has none.
  [[nodiscard]] bool may_go_round(Range body) const {
    for (std::size_t at = body.from; at < body.to; ++at) {
      const std::string_view word = text(at);
      if (word == "continue") return true;
      if (word == "for" || word == "while" || word == "do") at = loop_at(at).whole.to - 1;
    }
    return false;
  }
  [[nodiscard]] bool is_quiet(std::uint32_t line) const {
    const std::optional<std::string_view> reason = tokens_.mark(line, check_name);
    return reason && reason->starts_with(":") && reason->find_first_not_of(": \t\r") != std::string_view::npos;
  }
  void note(std::size_t loop, std::size_t name) { found_.push_back({tokens_.all[loop], tokens_.all[name]}); }

  Tokens tokens_;
  std::vector<LongLoop> found_;
};

}  // namespace

std::vector<LongLoop> find_long_loops(std::string_view text) { return LoopFinder(text).find(); }

std::string to_string(std::string_view file, const LongLoop& found) {
  const bool lambda = found.function.text == "[";
  std::string text(file);
  text.append(":").append(std::to_string(found.loop.line)).append(":").append(std::to_string(found.loop.column));
  text.append(": this ")
      .append(found.loop.text)
      .append(" loop of a coroutine never awaits, and nothing shows that it is short");
  text.append(" [").append(check_name).append("]\n  who:  ").append(lambda ? "the lambda" : found.function.text);
  text.append(" of line ").append(std::to_string(found.function.line));
  text.append(
      "\n  law:  GHO-3 a loop that runs long without a checkpoint keeps all tasks of its worker waiting, and no cancel ends it");
  return text.append("\n  next: co_await calm::checkpoint(cx) in it, now and then; or say why it is short: // NOLINT(")
      .append(check_name)
      .append("): reason");
}

}  // namespace calm::lint
