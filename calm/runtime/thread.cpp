#include "calm/runtime/thread.hpp"

#include <sched.h>

#include <cerrno>
#include <string>
#include <utility>

#include "calm/check/require.hpp"

namespace calm::runtime {

Thread::~Thread() { CALM_REQUIRE(QUI_3, !started_); }

void* Thread::run(void* thread) noexcept {
  const auto& self = *static_cast<const Thread*>(thread);
  self.body_(self.context_);
  return nullptr;
}

Status Thread::start(const RunOptions& options, std::uint16_t number, void (*body)(void*), void* context) noexcept {
  body_ = body;
  context_ = context;
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0) return Errc::resource_exhausted;
  int error = options.stack_bytes == 0 ? 0 : pthread_attr_setstacksize(&attributes, options.stack_bytes);
  if (error == 0) error = pthread_create(&handle_, &attributes, &Thread::run, this);
  (void)pthread_attr_destroy(&attributes);
  if (error != 0) return error == EINVAL ? Errc::invalid_argument : Errc::resource_exhausted;
  started_ = true;
  // The system takes 15 characters; a name that it does not take is no reason not to run.
  std::string name(options.name.substr(0, 11));
  name += '-' + std::to_string(number);
  (void)pthread_setname_np(handle_, name.c_str());
  return {};
}

void Thread::join() noexcept {
  if (std::exchange(started_, false)) (void)pthread_join(handle_, nullptr);
}

void Thread::go_to_core(std::uint16_t number) noexcept {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  const int cores = CPU_COUNT(&allowed);
  if (cores == 0) return;
  int left = number % cores;
  for (std::size_t core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &allowed) || left-- != 0) continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    (void)pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    return;
  }
}

}  // namespace calm::runtime
