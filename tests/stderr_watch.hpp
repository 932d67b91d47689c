// stderr_watch.hpp — what a piece of code says on standard error.
// Laws:    none of its own
// Threads: one at a time in a process; every thread's words are kept
// Cancel:  not applicable
#pragma once

#include <string>

namespace calm {

/// While it lives, standard error goes into memory. When the process is aborted meanwhile, or
/// ended by a sanitizer, what was said is shown.
class StderrWatch {
 public:
  StderrWatch();
  StderrWatch(const StderrWatch&) = delete;
  StderrWatch& operator=(const StderrWatch&) = delete;
  ~StderrWatch();

  /// Gives: what was said so far.
  [[nodiscard]] std::string said() const;
};

}  // namespace calm
