#include "calm/plan/parse.hpp"

#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace calm::plan {
namespace {

/// Thrown inside this file only, so that every step of the way down reads as what it expects.
struct Unreadable {
  std::size_t at;
  std::string expected;
};

class Reader {
 public:
  explicit Reader(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] Error error(const Unreadable& found) const {
    std::size_t line = 1;
    std::size_t line_start = 0;
    for (std::size_t i = 0; i < found.at; ++i) {
      if (text_[i] != '\n') continue;
      ++line;
      line_start = i + 1;
    }
    return {Errc::invalid_argument, "line " + std::to_string(line) + ", column " +
                                        std::to_string(found.at - line_start + 1) + ": expected " + found.expected};
  }

  void skip_space() noexcept { skip(" \t\r\n"); }
  void skip_blanks() noexcept { skip(" \t\r"); }
  [[nodiscard]] bool is_at_end() const noexcept { return at_ == text_.size(); }

  [[nodiscard]] bool take(char wanted) noexcept {
    if (is_at_end() || text_[at_] != wanted) return false;
    ++at_;
    return true;
  }
  void demand(char wanted) {
    skip_space();
    if (!take(wanted)) fail(std::string("`") + wanted + "`");
  }

  /// Gives: the letters, digits and signs of a name or word from here on.
  [[nodiscard]] std::string_view word() noexcept {
    const std::size_t start = at_;
    while (!is_at_end() && std::string_view(" \t\r\n,[]()").find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(start, at_ - start);
  }
  void back_to(std::string_view word) noexcept { at_ = static_cast<std::size_t>(word.data() - text_.data()); }

  [[noreturn]] void fail(std::string expected) const { throw Unreadable{at_, std::move(expected)}; }
  [[noreturn]] void fail_at(std::string_view word, std::string expected) {
    back_to(word);
    fail(std::move(expected));
  }

  std::string name(const char* what) {
    const std::string_view found = word();
    if (!is_name(found)) fail_at(found, what);
    return std::string(found);
  }

  Duration duration() {
    const std::string_view found = word();
    std::int64_t count = 0;
    const auto [rest, status] = std::from_chars(found.data(), found.data() + found.size(), count);
    const std::string_view unit = found.substr(static_cast<std::size_t>(rest - found.data()));
    if (status == std::errc()) {
      if (unit == "ns") return Duration::nanoseconds(count);
      if (unit == "us") return Duration::microseconds(count);
      if (unit == "ms") return Duration::milliseconds(count);
      if (unit == "s") return Duration::seconds(count);
    }
    fail_at(found, "a length of time such as 50ms");
  }

  Node tree(std::uint32_t depth) {
    skip_space();
    if (depth > max_depth) fail("a tree of at most " + std::to_string(max_depth) + " nodes from root to leaf");
    const std::string_view head = word();
    if (head == "Join") return Node::join(parts(depth));
    if (head == "Race") return Node::race(parts(depth));
    if (head == "Timeout") return timeout(depth);
    if (!is_name(head)) fail_at(head, "Join[…], Race[…], Timeout(…) or the name of a leaf");
    return Node::leaf(std::string(head));
  }

  /// Needs: at the start of a line below `where`.
  Leaf leaf() {
    Leaf leaf;
    leaf.name = name("the name of a leaf");
    skip_blanks();
    if (is_at_end() || text_[at_] == '\n') return leaf;
    do {
      skip_blanks();
      phrase(leaf);
      skip_blanks();
    } while (take(','));
    if (!is_at_end() && !take('\n')) fail("`,` or the end of the line");
    return leaf;
  }

 private:
  void skip(std::string_view what) noexcept {
    while (!is_at_end() && what.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::vector<Node> parts(std::uint32_t depth) {
    std::vector<Node> parts;
    demand('[');
    skip_space();
    if (take(']')) return parts;
    do {
      parts.push_back(tree(depth + 1));
      skip_space();
    } while (take(','));
    demand(']');
    return parts;
  }

  Node timeout(std::uint32_t depth) {
    demand('(');
    skip_space();
    const Duration limit = duration();
    demand(',');
    Node part = tree(depth + 1);
    demand(')');
    return Node::timeout(limit, std::move(part));
  }

  void demand_words(std::initializer_list<std::string_view> words) {
    for (const std::string_view wanted : words) {
      skip_blanks();
      if (const std::string_view found = word(); found != wanted) fail_at(found, "`" + std::string(wanted) + "`");
    }
  }

  std::vector<std::string> names() {
    std::vector<std::string> names;
    do {
      skip_blanks();
      names.push_back(name("the name of something that it touches"));
      skip_blanks();
    } while (!is_at_end() && text_[at_] != ',' && text_[at_] != '\n');
    return names;
  }

  void phrase(Leaf& leaf) {
    const std::string_view first = word();
    if (first == "takes") {
      skip_blanks();
      leaf.cost = duration();
    } else if (first == "reads") {
      leaf.reads = names();
      leaf.effects_known = true;
    } else if (first == "writes") {
      leaf.writes = names();
      leaf.effects_known = true;
    } else if (first == "touches") {
      demand_words({"nothing"});
      leaf.effects_known = true;
    } else if (first == "like") {
      skip_blanks();
      leaf.group = name("the name of a group");
    } else if (first == "ends") {
      demand_words({"at", "once"});
      leaf.ends_at_once = true;
    } else if (first == "holds") {
      demand_words({"no", "promise"});
      leaf.holds_promises = false;
    } else if (first == "repeatable") {
      leaf.repeatable = true;
    } else if (first == "never") {
      demand_words({"fails"});
      leaf.can_fail = false;
    } else {
      fail_at(first,
              "takes, reads, writes, touches nothing, like, ends at once, holds no promise, repeatable or never fails");
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::vector<Leaf> read_leaves(Reader& reader) {
  std::vector<Leaf> leaves;
  reader.skip_space();
  if (reader.is_at_end()) return leaves;
  const std::string_view head = reader.word();
  if (head != "where") reader.fail_at(head, "`where` or the end");
  for (reader.skip_space(); !reader.is_at_end(); reader.skip_space()) leaves.push_back(reader.leaf());
  return leaves;
}

}  // namespace

Outcome<Plan> parse(std::string_view text) {
  Reader reader(text);
  try {
    Node root = reader.tree(1);
    std::vector<Leaf> leaves = read_leaves(reader);
    return Plan::make(std::move(root), std::move(leaves));
  } catch (const Unreadable& found) {
    return err(reader.error(found));
  }
}

Outcome<Node> parse_tree(std::string_view text) {
  Reader reader(text);
  try {
    Node root = reader.tree(1);
    reader.skip_space();
    if (!reader.is_at_end()) reader.fail("the end");
    return ok(std::move(root));
  } catch (const Unreadable& found) {
    return err(reader.error(found));
  }
}

}  // namespace calm::plan
