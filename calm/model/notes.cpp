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

std::vector<Note>& notes_of(const mem::Ref<detail::NoteList>& list) noexcept {
  return static_cast<NoteVector*>(list.get())->notes;
}

}  // namespace

void detail::NoteList::destroy(const NoteList* list) noexcept { delete static_cast<const NoteVector*>(list); }

void Notes::add(const Note& note) noexcept {
  if (std::find(begin(), end(), note) != end()) return;
  if (size() == limit) {
    CALM_PROBE("notes: limit reached");
    incomplete_ = true;
    return;
  }
  try {
    if (list_ && list_->unique()) {
      notes_of(list_).push_back(note);
      return;
    }
    auto own = mem::Ref<detail::NoteList>::adopt(new NoteVector);
    notes_of(own).reserve(size() + 1);
    notes_of(own).assign(begin(), end());
    notes_of(own).push_back(note);
    list_ = std::move(own);
  } catch (const std::bad_alloc&) {
    CALM_PROBE("notes: no memory");
    incomplete_ = true;
  }
}

void Notes::merge(const Notes& other) noexcept {
  if (other.incomplete_) incomplete_ = true;
  if (!list_) {
    list_ = other.list_;
    return;
  }
  if (list_.get() == other.list_.get()) return;
  for (const Note& note : other) add(note);
}

std::size_t Notes::size() const noexcept { return list_ ? notes_of(list_).size() : 0; }

const Note* Notes::begin() const noexcept { return list_ ? notes_of(list_).data() : nullptr; }

const Note* Notes::end() const noexcept { return begin() + size(); }

bool operator==(const Notes& a, const Notes& b) noexcept {
  return a.incomplete_ == b.incomplete_ && std::equal(a.begin(), a.end(), b.begin(), b.end());
}

std::string to_string(const Note& note) {
  std::string text(to_string(note.kind()));
  text.append(": ").append(note.text());
  if (note.exception() != nullptr) text.append(": ").append(Panic(note.exception()).what());
  return text;
}

}  // namespace calm
