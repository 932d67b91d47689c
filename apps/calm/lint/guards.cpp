#include "apps/calm/lint/guards.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace calm::lint {
namespace {

constexpr std::string_view guard_types[] = {"lock_guard", "unique_lock", "scoped_lock", "shared_lock"};

struct Guard {
  Token name;
  std::string_view type;
  bool in_header = false;  ///< of an if, while, for or switch
  bool locked = true;
};

/// A block; one of a function of its own hides the guards around it.
struct Block {
  std::vector<Guard> guards;
  bool function = false;
};

class Finder {
 public:
  explicit Finder(std::string_view text) : tokens_(tokens_of(text)), blocks_(1) {}

  std::vector<HeldGuard> find() {
    for (at_ = 0; at_ < tokens_.all.size(); ++at_) look();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string_view text(std::size_t at) const noexcept { return tokens_.text(at); }
  [[nodiscard]] std::size_t behind(std::size_t at, char open, char close) const noexcept {
    return tokens_.behind(at, open, close);
  }
  [[nodiscard]] bool is_quiet(std::uint32_t line) const {
    return tokens_.mark(line, "calm-blocking-guard").has_value();
  }

  void look() {
    const std::string_view word = text(at_);
    if (word == "{") return open();
    if (word == "}") return close();
    if (word == "(" || word == ")") {
      depth_ = word == "(" ? depth_ + 1 : depth_ - (depth_ > 0 ? 1 : 0);
    } else if (word == ";" && depth_ == 0) {
      headers_.clear();  // a statement without a block has ended
    } else if (word == "[") {
      if (const std::size_t body = tokens_.lambda_body(at_)) function_bodies_.push_back(body);
    } else if (word == "class" || word == "struct" || word == "union") {
      class_ahead_ = text(at_ + 1) != ">" && text(at_ + 1) != ",";
    } else if (word == "co_await" || word == "co_yield") {
      suspend();
    } else if (std::find(std::begin(guard_types), std::end(guard_types), word) != std::end(guard_types)) {
      declare();
    } else if (text(at_ + 1) == "." && begins_a_name(word)) {
      call(word, text(at_ + 2));
    } else if (word == "move" && text(at_ + 1) == "(" && text(at_ + 3) == ")") {
      set_locked(text(at_ + 2), false);  // the guard lives on elsewhere
    }
    if (word == ";") class_ahead_ = false;
  }

  void open() {
    const bool lambda = std::find(function_bodies_.begin(), function_bodies_.end(), at_) != function_bodies_.end();
    blocks_.push_back({std::exchange(headers_, {}), lambda || std::exchange(class_ahead_, false)});
    depths_.push_back(std::exchange(depth_, 0));
  }
  void close() {
    if (blocks_.size() == 1) return;  // more ends than begins: macros
    const std::vector<Guard> guards = std::move(blocks_.back().guards);
    blocks_.pop_back();
    depth_ = depths_.back();
    depths_.pop_back();
    if (text(at_ + 1) != "else") return;
    for (const Guard& guard : guards) {
      if (guard.in_header) headers_.push_back(guard);  // its else has it too
    }
  }

  void declare() {
    const std::string_view type = text(at_);
    std::size_t at = at_ + 1;
    if (text(at) == "<") at = behind(at, '<', '>');
    if (!begins_a_name(text(at))) return;  // a type in an expression, an object without a name, an alias
    const std::string_view next = text(at + 1);
    if (next != "(" && next != "{" && next != "=" && next != ";") return;
    const bool in_header = depth_ > 0;
    if (in_header && !is_header()) return;  // a parameter
    Guard guard{tokens_.all[at], type, in_header};
    if (next == ";") guard.locked = false;
    if (next == "(" || next == "{") {
      const std::size_t end = behind(at + 1, next[0], next == "(" ? ')' : '}');
      for (std::size_t i = at + 1; i < end; ++i) guard.locked = guard.locked && text(i) != "defer_lock";
      at_ = end - 1;  // its arguments are no block
    } else {
      at_ = at;
    }
    (in_header ? headers_ : blocks_.back().guards).push_back(guard);
  }
  /// Gives: true inside the brackets of if, while, for or switch.
  [[nodiscard]] bool is_header() const noexcept {
    std::size_t depth = 0;
    for (std::size_t at = at_; at > 0; --at) {
      if (text(at) == ")") ++depth;
      if (text(at) != "(") continue;
      if (depth-- > 0) continue;
      const std::string_view before = text(at - 1);
      return before == "if" || before == "while" || before == "for" || before == "switch" || before == "constexpr";
    }
    return false;
  }

  void call(std::string_view name, std::string_view function) {
    if (function == "unlock" || function == "release") set_locked(name, false);
    if (function == "lock" || function == "try_lock") set_locked(name, true);
  }
  void set_locked(std::string_view name, bool locked) {
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      for (auto guard = block->guards.rbegin(); guard != block->guards.rend(); ++guard) {
        if (guard->name.text != name) continue;
        guard->locked = locked;
        return;
      }
      if (block->function) return;
    }
  }

  void suspend() {
    const Token& await = tokens_.all[at_];
    if (is_quiet(await.line)) return;
    std::vector<HeldGuard> held;
    add(held, headers_, await);
    for (auto block = blocks_.rbegin(); block != blocks_.rend(); ++block) {
      add(held, block->guards, await);
      if (block->function) break;
    }
    found_.insert(found_.end(), held.rbegin(), held.rend());
  }
  void add(std::vector<HeldGuard>& held, const std::vector<Guard>& guards, const Token& await) const {
    for (auto guard = guards.rbegin(); guard != guards.rend(); ++guard) {
      if (!guard->locked || is_quiet(guard->name.line)) continue;
      held.push_back({guard->name, guard->type, await});
    }
  }

  Tokens tokens_;
  std::vector<Block> blocks_;
  std::vector<std::size_t> depths_;           // of round brackets around each block
  std::vector<std::size_t> function_bodies_;  // where bodies of lambdas begin
  std::vector<Guard> headers_;                // declared in the brackets of an if, and what that guards comes next
  std::vector<HeldGuard> found_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool class_ahead_ = false;
};

}  // namespace

std::vector<HeldGuard> find_held_guards(std::string_view text) { return Finder(text).find(); }

std::string to_string(std::string_view file, const HeldGuard& held) {
  std::string text(file);
  text.append(":").append(std::to_string(held.await.line)).append(":").append(std::to_string(held.await.column));
  text.append(": ").append(held.await.text).append(" while ").append(held.guard.text);
  text.append(", a std::").append(held.type).append(" of line ").append(std::to_string(held.guard.line));
  text.append(", holds its lock [calm-blocking-guard]");
  text.append(
      "\n  law:  CHN-12 tasks wait for calm::Mutex; a blocking lock stops every task of its worker, and the task "
      "may go on on a thread that does not own it");
  return text.append("\n  next: end the guard before, in a block of its own, or hold a calm::Mutex instead");
}

}  // namespace calm::lint
