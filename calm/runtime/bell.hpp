// bell.hpp — where a thread that is no worker waits for one thing that happens once.
// Laws:    QUI-3
// Threads: ring() once, anywhere; the rest anywhere but on workers
// Cancel:  not applicable
#pragma once

#include <condition_variable>
#include <mutex>

#include "calm/model/time.hpp"

namespace calm::runtime {

class Bell {
 public:
  /// Who has waited may end the bell at once: ring() is done with it then.
  void ring() noexcept;
  void wait() const noexcept;
  /// Gives: false when it did not ring in time.
  [[nodiscard]] bool wait_for(Duration duration) const noexcept;
  [[nodiscard]] bool has_rung() const noexcept;

  /// Stops the program on a thread that is a worker: it would wait for itself.
  static void require_no_worker() noexcept;

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable heard_;
  bool rung_ = false;
};

}  // namespace calm::runtime
