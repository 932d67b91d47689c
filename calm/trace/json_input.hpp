// json_input.hpp — strict JSON, pulled piece by piece by a reader who knows what must come.
// Laws:    LAB-11 (numbers are exact; what is wrong is named by line, column and field)
// Threads: belongs to one thread
// Cancel:  not applicable
//
// The first fault stays: after it everything that is asked for comes back empty, and loops end. So a reader asks for all it
// wants and looks at failed() once. Depth is that of the reader's own calls: no input makes it recurse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calm/model/error.hpp"

namespace calm::trace {

class JsonInput {
 public:
  explicit JsonInput(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool failed() const noexcept { return failed_; }

  /// Something is wrong with what was read last. The first call counts.
  void fail(const std::string& what, Errc code = Errc::protocol);

  /// Needs: failed(). Gives: where, which field and what.
  [[nodiscard]] const Error& error() const noexcept { return error_; }

  /// Reads an object; `value(i)` is to read that of fields[i]. An unknown field or one that stands twice is a fault.
  /// Gives: the set of fields that were there, bit i for fields[i].
  template <class Value>
  std::uint32_t object(std::span<const std::string_view> fields, Value value) {
    std::uint32_t seen = 0;
    members([&](const std::string& key) {
      const std::size_t field = find(fields, key, seen);
      if (!failed_) value(field);
    });
    return seen;
  }

  /// Reads an object whose keys are data; `value(key)` is to read the value of each.
  template <class Value>
  void members(Value value) {
    if (!open('{', "an object")) return;
    for (bool first = true; !close('}', first); first = false) {
      const std::string key = string();
      expect(':');
      if (failed_) return;
      path_.push_back({key, 0});
      value(key);
      if (failed_) return;
      path_.pop_back();
    }
  }

  /// Reads an array; `item()` is to read each of its values.
  template <class Item>
  void array(Item item) {
    if (!open('[', "an array")) return;
    path_.push_back({{}, 0});
    for (bool first = true; !close(']', first); first = false) {
      item();
      if (failed_) return;
      ++path_.back().index;
    }
    if (!failed_) path_.pop_back();
  }

  /// Gives: the text of a string.
  std::string string();

  /// Gives: a whole number from 0 to `limit`, which may also stand as a string of its digits.
  std::uint64_t number(std::uint64_t limit = std::numeric_limits<std::uint64_t>::max());

  /// Nothing but white space may be left.
  void end();

  /// A field that is missing is a fault of the object that was read last.
  void require(std::uint32_t seen, std::span<const std::string_view> fields, std::size_t field);

 private:
  struct Step {
    std::string key;  // empty for the item of an array
    std::size_t index;
  };

  [[nodiscard]] bool at(char c) const noexcept { return at_ < text_.size() && text_[at_] == c; }
  void skip_space() noexcept;
  bool open(char bracket, std::string_view what);
  bool close(char bracket, bool first);
  void expect(char c);
  std::size_t find(std::span<const std::string_view> fields, const std::string& key, std::uint32_t& seen);
  void escape(std::string& out);
  std::uint32_t four_digits();
  [[nodiscard]] std::string found() const;

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t token_ = 0;  // where the piece begins that is being read
  std::vector<Step> path_;
  bool failed_ = false;
  Error error_{Errc::protocol};
};

}  // namespace calm::trace
