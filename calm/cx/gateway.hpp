// gateway.hpp — the way into a runtime for threads that are none of its workers; it stays when the runtime has ended.
// Laws:    REG-7 (who comes too late is told so), HND-3, QUI-3, SHD-6
// Threads: hand_in() and has_callers() anywhere; the rest by the runtime
// Cancel:  close() answers those who wait, and those who come later
//
// Who holds a reference may come at any time: as long as there are such a runtime that has nothing to do is not stuck.
#pragma once

#include <cstdint>

#include "calm/cx/errand.hpp"
#include "calm/lockfree/closable_line.hpp"
#include "calm/mem/ref.hpp"

namespace calm::cx {

/// Hears of each errand before it is done, on the worker that does it.
class ErrandWatch {
 public:
  virtual void begins(const Errand& errand, kernel::Worker& worker) noexcept = 0;

 protected:
  ~ErrandWatch() = default;
};

class Gateway : public mem::RefCounted {
 public:
  /// `ring(host)` makes a worker look; called under the lock of the gateway, never after close().
  Gateway(void (*ring)(void*) noexcept, void* host) noexcept : ring_(ring), host_(host) {}

  static void destroy(const Gateway* gateway) noexcept { delete gateway; }

  /// Gives: false once the runtime has ended; the errand stays the caller's then.
  [[nodiscard]] bool hand_in(Errand& errand) noexcept;

  /// Gives: true when somebody besides the runtime holds a reference.
  [[nodiscard]] bool has_callers() const noexcept { return !unique(); }

  // --- for the runtime ---

  /// Does all that wait, oldest first. Gives: how many.
  std::uint64_t serve(kernel::Worker& worker, ErrandWatch* watch = nullptr) noexcept;
  /// Does the oldest. Gives: false when none waits.
  bool serve_one(kernel::Worker& worker) noexcept;

  /// Nobody is served from here on; those who wait are told so.
  void close() noexcept;

 private:
  lockfree::ClosableLine<Errand, &Errand::next> line_;
  void (*ring_)(void*) noexcept;
  void* host_;
};

}  // namespace calm::cx
