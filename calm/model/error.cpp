#include "calm/model/error.hpp"

#include <new>
#include <utility>

#include "calm/model/text.hpp"

namespace calm {
namespace {

mem::Ref<detail::ErrorText> make_text(std::string_view message, const Error* cause) noexcept {
  try {
    auto text = mem::Ref<detail::ErrorText>::adopt(new detail::ErrorText);
    text->message = message;
    if (cause != nullptr) text->cause = new Error(*cause);
    return text;
  } catch (const std::bad_alloc&) {
    return {};
  }
}

constexpr std::string_view lost_text = "(no memory for the message)";

}  // namespace

void detail::ErrorText::destroy(const ErrorText* text) noexcept {
  // One after the other: a long line of causes costs no stack.
  while (text != nullptr) {
    Error* cause = const_cast<Error*>(text->cause);
    delete text;
    text = nullptr;
    if (cause == nullptr) return;
    const ErrorText* next = cause->text_.leak();
    delete cause;
    if (next != nullptr && next->release()) text = next;
  }
}

Error::Error(Errc code, std::string_view message, std::source_location where) noexcept : code_(code), where_(where) {
  if (message.empty()) return;
  text_ = make_text(message, nullptr);
  text_lost_ = !text_;
}

Error Error::because(const Error& cause) const noexcept {
  Error error(code_, where_);
  error.text_ = make_text(message(), &cause);
  error.text_lost_ = text_lost_ || !error.text_;
  return error;
}

std::string_view Error::message() const noexcept {
  if (text_) return text_->message;
  return text_lost_ ? lost_text : std::string_view();
}

bool Error::same_text(const Error& a, const Error& b) noexcept {
  const Error* left = &a;
  const Error* right = &b;
  while (left != nullptr && right != nullptr) {
    if (left->code_ != right->code_ || left->message() != right->message()) return false;
    left = left->cause();
    right = right->cause();
  }
  return left == right;
}

std::string to_string(const Error& error) {
  std::string text(to_string(error.code()));
  if (!error.message().empty()) text.append(": ").append(error.message());
  return text;
}

std::string Error::explain() const {
  std::string text = to_string(*this);
  text.append("\n  at:    ").append(text_of(where_));
  text.append("\n  cause: ").append(describe(code_).cause);
  text.append("\n  fix:   ").append(describe(code_).fix);
  for (const Error* cause = this->cause(); cause != nullptr; cause = cause->cause()) {
    text.append("\n  because of ").append(to_string(*cause)).append(" at ").append(text_of(cause->where_));
  }
  return text;
}

}  // namespace calm
