#include "tests/stderr_watch.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstddef>

/// There in a build with sanitizers: they end the process without an abort, and say why on standard error before.
extern "C" [[gnu::weak]] void __sanitizer_set_death_callback(void (*callback)());

namespace calm {
namespace {

std::atomic<int> said_fd{-1};
std::atomic<int> real_fd{-1};
struct sigaction before{};

/// Nothing in it but what a signal handler may do.
void show() {
  if (said_fd.load() < 0) return;
  char text[4096];
  off_t at = 0;
  for (;;) {
    const ssize_t size = pread(said_fd.load(), text, sizeof text, at);
    if (size <= 0) break;
    at += size;
    if (write(real_fd.load(), text, static_cast<std::size_t>(size)) < 0) break;
  }
}

void show_and_abort(int /*signal*/) {
  show();
  (void)sigaction(SIGABRT, &before, nullptr);
  (void)raise(SIGABRT);
}

}  // namespace

StderrWatch::StderrWatch() {
  real_fd = dup(STDERR_FILENO);
  said_fd = memfd_create("said", 0);
  (void)dup2(said_fd, STDERR_FILENO);
  struct sigaction action{};
  action.sa_handler = show_and_abort;
  (void)sigaction(SIGABRT, &action, &before);
  if (&__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(show);
}

StderrWatch::~StderrWatch() {
  (void)sigaction(SIGABRT, &before, nullptr);
  (void)dup2(real_fd, STDERR_FILENO);
  (void)close(real_fd.exchange(-1));
  (void)close(said_fd.exchange(-1));
}

std::string StderrWatch::said() const {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t size = pread(said_fd, part, sizeof part, static_cast<off_t>(text.size()));
    if (size <= 0) return text;
    text.append(part, static_cast<std::size_t>(size));
  }
}

}  // namespace calm
