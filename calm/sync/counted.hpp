// counted.hpp — a promise without a record, as a part of guards and permits: counted for the task that made it.
// Laws:    OBL-2, OBL-4, OBL-5
// Threads: made by the running task, settled by whichever task has it then, on whichever worker
// Cancel:  not applicable
#pragma once

#include <utility>

#include "calm/cx/port.hpp"
#include "calm/model/id.hpp"
#include "calm/model/obligation_kind.hpp"

namespace calm::sync {

class Counted {
 public:
  /// The running task makes one. Needs: it has fewer than 65535 of the kind when it suspends.
  Counted(cx::Port& port, ObligationKind kind) noexcept : Counted(port, port.here(), kind) {}
  Counted(Counted&& other) noexcept : holder_(std::exchange(other.holder_, {})) {}
  Counted& operator=(Counted&& other) noexcept {
    std::swap(holder_, other.holder_);
    return *this;
  }
  ~Counted() = default;

  /// It is kept, or taken back: both leave nothing behind. Whoever does it; when its holder has ended, that has settled it
  /// (OBL-5).
  void settle(cx::Port& port, ObligationKind kind) noexcept {
    if (holder_) port.uncount(port.here(), std::exchange(holder_, {}), kind);
  }

 private:
  Counted(cx::Port& port, cx::Port::Worker& worker, ObligationKind kind) noexcept : holder_(worker.running()) {
    port.count(worker, kind);
  }

  TaskId holder_;
};

}  // namespace calm::sync
