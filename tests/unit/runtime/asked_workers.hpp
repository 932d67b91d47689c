// asked_workers.hpp — an environment that asks for so many workers, or says nothing of them, as long as this lives.
// Laws:    none of its own
// Threads: one, while no other looks at the environment
// Cancel:  not applicable
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace calm {

// NOLINTBEGIN(concurrency-mt-unsafe): no other thread looks at the environment
class AskedWorkers {
 public:
  /// With nullptr it says nothing.
  explicit AskedWorkers(const char* asked) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(asked);
  }
  AskedWorkers(const AskedWorkers&) = delete;
  AskedWorkers& operator=(const AskedWorkers&) = delete;
  ~AskedWorkers() { set(before_ ? before_->c_str() : nullptr); }

 private:
  static void set(const char* asked) {
    if (asked != nullptr) {
      (void)setenv(name, asked, 1);
    } else {
      (void)unsetenv(name);
    }
  }

  static constexpr const char* name = "CALM_WORKERS";
  std::optional<std::string> before_;
};
// NOLINTEND(concurrency-mt-unsafe)

}  // namespace calm
