// Random programs over Outcome<std::string>, step by step beside a plain std::variant that does the same naively.
#include <algorithm>
#include <array>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/model/outcome.hpp"
#include "tests/fuzz/bytes.hpp"

namespace calm::fuzz {
namespace {

using Real = Outcome<std::string>;

/// What an Outcome is by OUT-1..3 and OUT-5, in the simplest way. The index of the variant is the severity.
struct Model {
  std::variant<std::string, Error, Reason, std::exception_ptr> payload;
  std::vector<std::string> notes{};
  bool incomplete = false;

  void add_note(const std::string& text) {
    if (std::find(notes.begin(), notes.end(), text) != notes.end()) return;
    if (notes.size() == Notes::limit) {
      incomplete = true;
    } else {
      notes.push_back(text);
    }
  }
  void add_notes_of(const Model& other) {
    for (const std::string& note : other.notes) add_note(note);
    incomplete = incomplete || other.incomplete;
  }
};

struct Slot {
  Real real;
  Model model;
};

bool same_payload(const Real& real, const Model& model) {
  switch (real.kind()) {
    case OutcomeKind::ok:
      return real.value() == std::get<std::string>(model.payload);
    case OutcomeKind::err:
      return real.error() == std::get<Error>(model.payload);
    case OutcomeKind::cancelled:
      return real.reason() == std::get<Reason>(model.payload);
    case OutcomeKind::panicked:
      return real.panic().exception() == std::get<std::exception_ptr>(model.payload);
  }
  return false;
}

void compare(const Slot& slot) {
  const auto& [real, model] = slot;
  CALM_INVARIANT(OUT_1, static_cast<std::size_t>(real.kind()) == model.payload.index(), real);
  CALM_INVARIANT(OUT_1, same_payload(real, model), real);
  CALM_INVARIANT(OUT_5, real.notes().size() == model.notes.size() && real.notes().incomplete() == model.incomplete,
                 real);
  const bool same_notes = std::equal(real.notes().begin(), real.notes().end(), model.notes.begin(), model.notes.end(),
                                     [](const Note& note, const std::string& text) { return note.text() == text; });
  CALM_INVARIANT(OUT_5, same_notes, real);
}

Slot ok_slot(std::string text) { return {.real = ok(text), .model = {.payload = text}}; }

Slot some_slot(Bytes& bytes) {
  static const std::array<std::exception_ptr, 2> exceptions = {std::make_exception_ptr(std::runtime_error("boom")),
                                                               std::make_exception_ptr(7)};
  switch (bytes.below(4)) {
    case 0:
      return ok_slot(bytes.text(60));
    case 1: {
      const Error error(static_cast<Errc>(1 + bytes.below(40)), bytes.text(60));
      return {.real = err(error), .model = {.payload = error}};
    }
    case 2: {
      const std::string message = bytes.text(60);
      const auto kind = static_cast<CancelKind>(bytes.below(cancel_kind_count));
      const Reason reason({.kind = kind, .at = Time::at_ns(bytes.below(8)), .message = message});
      return {.real = cancelled(reason), .model = {.payload = reason}};
    }
    default: {
      const std::exception_ptr& exception = exceptions[bytes.below(exceptions.size())];
      return {.real = panicked(exception), .model = {.payload = exception}};
    }
  }
}

void add_notes(Slot& slot, Bytes& bytes) {
  const std::size_t first = bytes.take<std::uint8_t>();
  const std::size_t last = first + bytes.below(80);
  for (std::size_t number = first; number <= last; ++number) {
    const std::string text = std::to_string(number);
    slot.real.add_note(Note(OutcomeKind::err, text));
    slot.model.add_note(text);
  }
}

Slot joined(const Slot& a, const Slot& b) {
  const Reason* why_a = std::get_if<Reason>(&a.model.payload);
  const Reason* why_b = std::get_if<Reason>(&b.model.payload);
  Model model = a.model.payload.index() < b.model.payload.index() ? b.model : a.model;
  if (why_a != nullptr && why_b != nullptr) model.payload = strengthen(*why_a, *why_b);
  model.notes = a.model.notes;
  model.incomplete = a.model.incomplete;
  model.add_notes_of(b.model);
  return {.real = join(a.real, b.real), .model = std::move(model)};
}

Slot mapped(Slot slot, bool moves) {
  const auto twice = [](const std::string& text) { return text.substr(0, 100) + text.substr(0, 100); };
  slot.real = moves ? std::move(slot.real).map(twice) : slot.real.map(twice);
  if (auto* text = std::get_if<std::string>(&slot.model.payload)) *text = twice(*text);
  return slot;
}

Slot error_mapped(Slot slot, bool moves) {
  const auto wrapped = [](const Error& error) { return Error(Errc::io, "outer").because(error); };
  slot.real = moves ? std::move(slot.real).map_err(wrapped) : slot.real.map_err(wrapped);
  if (auto* error = std::get_if<Error>(&slot.model.payload)) *error = wrapped(*error);
  return slot;
}

Slot chained(const Slot& slot, const Slot& next) {
  Slot result{.real = slot.real.and_then([&](const std::string&) { return next.real; }), .model = slot.model};
  if (std::holds_alternative<std::string>(slot.model.payload)) {
    result.model.payload = next.model.payload;
    result.model.add_notes_of(next.model);
  }
  return result;
}

void check_observers(const Slot& slot, const Slot& other) {
  const auto* text = std::get_if<std::string>(&slot.model.payload);
  CALM_INVARIANT(OUT_1, slot.real.value_or("other") == (text != nullptr ? *text : "other"), slot.real);
  const int visited = slot.real.visit([](const std::string&) { return 0; }, [](const Error&) { return 1; },
                                      [](const Reason&) { return 2; }, [](const Panic&) { return 3; });
  CALM_INVARIANT(OUT_1, visited == static_cast<int>(slot.real.kind()), slot.real);
  CALM_INVARIANT(OUT_1, slot.real == slot.real && !slot.real.explain().empty(), slot.real);
  const bool equal = slot.real.kind() == other.real.kind() && same_payload(slot.real, other.model);
  CALM_INVARIANT(OUT_1, (slot.real == other.real) == equal, slot.real, other.real);
}

void step(std::array<Slot, 3>& slots, Bytes& bytes) {
  const std::size_t index = bytes.below(slots.size());
  Slot& one = slots[index];
  Slot& next = slots[(index + 1) % slots.size()];
  const Slot& other = slots[bytes.below(slots.size())];
  switch (bytes.below(10)) {
    case 0:
      one = some_slot(bytes);
      break;
    case 1:
      add_notes(one, bytes);
      break;
    case 2:
      one = joined(one, other);
      break;
    case 3:
      one = mapped(other, false);
      break;
    case 4:
      one = mapped(one, true);
      break;
    case 5:
      one = error_mapped(one, bytes.below(2) == 0);
      break;
    case 6:
      one = chained(one, other);
      break;
    case 7:
      one = other;  // sometimes itself
      break;
    case 8:
      one = std::exchange(next, ok_slot("left behind"));
      break;
    default:
      check_observers(one, other);
      break;
  }
  compare(one);
  compare(next);
  compare(other);
}

void check(Bytes bytes) {
  std::array<Slot, 3> slots{ok_slot(""), some_slot(bytes), some_slot(bytes)};
  for (int steps = 0; steps < 50 && !bytes.empty(); ++steps) step(slots, bytes);
}

}  // namespace
}  // namespace calm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  calm::fuzz::check(calm::fuzz::Bytes(data, size));
  return 0;
}
