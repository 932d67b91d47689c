#include "calm/explore/plain.hpp"

namespace calm::explore {

void PlainUses::read() {
  Threads* const threads = Threads::current();
  if (threads == nullptr || threads->memory() == nullptr || !threads->in_thread()) return;
  const Stores& memory = *threads->memory();
  threads->check(memory.is_known(threads->process(), written_),
                 "a data race: a variable is read, and nothing orders that after the last time it was written");
  read_.push_back(memory.now(threads->process()));
}

void PlainUses::write() {
  Threads* const threads = Threads::current();
  if (threads == nullptr || threads->memory() == nullptr || !threads->in_thread()) return;
  const Stores& memory = *threads->memory();
  bool ordered = memory.is_known(threads->process(), written_);
  for (const Stores::Moment& moment : read_) ordered = ordered && memory.is_known(threads->process(), moment);
  threads->check(ordered, "a data race: a variable is written, and nothing orders that after all its earlier uses");
  written_ = memory.now(threads->process());
  read_.clear();
}

}  // namespace calm::explore
