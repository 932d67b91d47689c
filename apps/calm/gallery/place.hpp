// place.hpp — what the models of the gallery are made of: a thing that is looked at and changed in whole steps.
// Laws:    LAB-4 (every step writes the one place, so what enables a step conflicts with it)
// Threads: those of one explored program
// Cancel:  a model keeps the flag of a cancel in its own place, so that a wait sees both
//
// An async task is a thread of such steps: between two awaits nobody else runs, so what it does there is one step.
#pragma once

#include "calm/explore/threads.hpp"

namespace calm::gallery {

class Place {
 public:
  explicit Place(explore::Threads& threads) : threads_(threads), location_(threads.new_location()) {}

  /// What comes after it, up to the next one, is one step; people call it `word`.
  void step(const char* word) {
    threads_.arrive({.kind = explore::StepKind::fixed, .location = location_, .write = true});
    tell(word);
  }

  /// As step(), and goes on only when `ready()`.
  template <class Ready>
  void step_when(const char* word, const Ready& ready) {
    threads_.arrive({.kind = explore::StepKind::free,
                     .location = location_,
                     .write = true,
                     .can_go_on = [](const void* asked) { return (*static_cast<const Ready*>(asked))(); },
                     .word = &ready});
    tell(word);
  }

 private:
  void tell(const char* word) {
    threads_.touch(explore::Touch::write(location_));
    threads_.call(word);
  }

  explore::Threads& threads_;
  explore::Location location_;
};

}  // namespace calm::gallery
