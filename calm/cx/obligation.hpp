// obligation.hpp — a promise as a value: reserve it, then commit or abort; dropped, it aborts by itself and is seen.
// Laws:    I4, OBL-1, OBL-4, OBL-5, OBL-6
// Threads: a token belongs to one task at a time; hand_to() tells the kernel of a new one
// Cancel:  none of it waits; what a cancelled task still holds is aborted when its frame is gone
#pragma once

#include <source_location>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/model/obligation_state.hpp"
#include "calm/model/outcome.hpp"
#include "calm/trace/resource.hpp"

namespace calm {

class [[nodiscard("a promise that is dropped is aborted")]] Obligation {
 public:
  /// Needs: a promise of the port's kernel, whose only token this is.
  Obligation(cx::Port& port, ObligationId id) noexcept : port_(&port), id_(id) {}
  Obligation(Obligation&& other) noexcept : port_(other.port_), id_(std::exchange(other.id_, {})) {}
  Obligation& operator=(Obligation&& other) noexcept {
    std::swap(port_, other.port_);
    std::swap(id_, other.id_);
    return *this;
  }
  /// Still open: aborted, counted and traced; in the lab the run fails with the place where it was made (OBL-4).
  ~Obligation() {
    if (id_) (void)port_->drop_token(port_->here(), id_);
  }

  /// Gives: nothing once it was committed, aborted or moved from.
  [[nodiscard]] ObligationId id() const noexcept { return id_; }

  /// The promise is kept. Fails: obligation_already_resolved; obligation_leaked when its holder has ended (OBL-5).
  Status commit() noexcept { return resolve(ObligationState::committed); }
  /// The promise is taken back. Fails: as commit().
  Status abort() noexcept { return resolve(ObligationState::aborted); }

  /// From now on this task must see to it. Fails: obligation_already_resolved, obligation_leaked; stale_handle when the
  ///        task has ended.
  Status hand_to(TaskId task) noexcept {
    if (!id_) return Errc::obligation_already_resolved;
    return port_->hand_over(port_->here(), id_, task);
  }

 private:
  Status resolve(ObligationState to) noexcept {
    if (!id_) return Errc::obligation_already_resolved;
    return port_->resolve(port_->here(), std::exchange(id_, {}), to);
  }

  cx::Port* port_;
  ObligationId id_;
};

/// Promises something in the innermost scope: that does not close before the promise is resolved. `resource` is what it is
/// about.
/// Fails: region_not_open; admission_limit; resource_exhausted; invalid_argument for a kind that is only counted (OBL-2).
[[nodiscard]] inline Outcome<Obligation> reserve(CxOf<> cx, ObligationKind kind, trace::ResourceId resource = {},
                                                 std::source_location site = std::source_location::current()) {
  cx::TaskRoot& root = *cx::context_of(cx).root();
  const auto made = root.port().reserve(root.worker(), cx.region(),
                                        {.kind = kind, .holder = root.id(), .resource = resource, .site = site});
  if (!made) return err(made.status.error(), "a promise was not reserved", site);
  return ok(Obligation(root.port(), made.id));
}

}  // namespace calm
