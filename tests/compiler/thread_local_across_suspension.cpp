// trap: the address of a thread_local is kept across a suspension, though another thread resumes
// flags: -O2
#include <pthread.h>

#include "probe.hpp"

namespace {

thread_local int mine = 0;

int* address() { return &mine; }

probe::Coroutine body(bool& kept) {
  const int* const before = address();
  co_await std::suspend_always();
  kept = before == address();
}

void* resume(void* frame) {
  std::coroutine_handle<>::from_address(frame).resume();
  return nullptr;
}

}  // namespace

int main() {
  bool kept = false;
  const probe::Coroutine coroutine = body(kept);
  pthread_t other{};
  if (pthread_create(&other, nullptr, resume, coroutine.handle().address()) != 0) return 1;
  pthread_join(other, nullptr);
  return probe::verdict(kept);
}
