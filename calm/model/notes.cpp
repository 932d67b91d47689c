#include "calm/model/notes.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include "calm/check/probe.hpp"

namespace calm {
namespace {

struct NoteVector final : detail::NoteList {
  std::vector<Note> notes;
};

std::vector<Note>& notes_of(detail::NoteList* list) noexcept { return static_cast<NoteVector*>(list)->notes; }

}  // namespace

void detail::NoteList::destroy(const NoteList* list) noexcept { delete static_cast<const NoteVector*>(list); }

/// Needs: a list with one owner more, this; it has none itself.
void Notes::set_list(detail::NoteList* list) noexcept { word_ |= reinterpret_cast<std::uintptr_t>(list); }

void Notes::add(const Note& note) noexcept {
  if (std::find(begin(), end(), note) != end()) return;
  if (size() == limit) {
    CALM_PROBE("notes: limit reached");
    word_ |= incomplete_bit;
    return;
  }
  try {
    if (has_list() && list()->unique()) {
      notes_of(list()).push_back(note);
      return;
    }
    auto own = mem::Ref<detail::NoteList>::adopt(new NoteVector);
    notes_of(own.get()).reserve(size() + 1);
    notes_of(own.get()).assign(begin(), end());
    notes_of(own.get()).push_back(note);
    Notes longer;
    longer.word_ = word_ & incomplete_bit;
    longer.set_list(own.leak());
    *this = std::move(longer);
  } catch (const std::bad_alloc&) {
    CALM_PROBE("notes: no memory");
    word_ |= incomplete_bit;
  }
}

void Notes::merge(const Notes& other) noexcept {
  word_ |= other.word_ & incomplete_bit;
  if (!other.has_list()) return;
  if (!has_list()) {
    other.list()->retain();
    set_list(other.list());
    return;
  }
  if (list() == other.list()) return;
  for (const Note& note : other) add(note);
}

std::size_t Notes::size() const noexcept { return has_list() ? notes_of(list()).size() : 0; }

const Note* Notes::begin() const noexcept { return has_list() ? notes_of(list()).data() : nullptr; }

const Note* Notes::end() const noexcept { return begin() + size(); }

bool operator==(const Notes& a, const Notes& b) noexcept {
  return a.incomplete() == b.incomplete() && std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string to_string(const Note& note) {
  std::string text(to_string(note.kind()));
  text.append(": ").append(note.text());
  if (note.exception() != nullptr) text.append(": ").append(Panic(note.exception()).what());
  return text;
}

}  // namespace calm
