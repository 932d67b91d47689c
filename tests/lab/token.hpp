// token.hpp — the promises that a block of a program has made and not resolved yet.
// Laws:    OBL-1, OBL-3, OBL-4
// Threads: a purse is of one task; a gift is of two, and what both touch is locked
// Cancel:  what is left when the block ends is aborted, whichever way it ends
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "calm/cx/cx.hpp"
#include "calm/cx/obligation.hpp"
#include "journal.hpp"

namespace calm::programs {

/// A promise on its way to another task. What nobody takes is aborted.
class Gift {
 public:
  Gift(Journal& journal, Obligation token) noexcept : journal_(journal), token_(std::move(token)) {}
  Gift(const Gift&) = delete;
  Gift& operator=(const Gift&) = delete;
  ~Gift() {
    if (!token_.id()) return;
    journal_.resolved(false);
    (void)token_.abort();
  }

  /// From now on this task must see to it (OBL-5). On threads it may have begun before it was told, and even ended.
  void hand_to(TaskId task, const TaskNote& note) {
    const std::lock_guard hold(mutex_);
    if (!token_.id()) return;
    const bool handed = token_.hand_to(task).is_ok();
    journal_.expect(handed || journal_.on_threads(), "OBL-5", "a promise was not handed over to task", note.number);
  }
  /// The task that it was for takes it.
  [[nodiscard]] Obligation take(TaskId task) noexcept {
    const std::lock_guard hold(mutex_);
    if (journal_.on_threads()) (void)token_.hand_to(task);
    return std::move(token_);
  }

 private:
  std::mutex mutex_;
  Journal& journal_;
  Obligation token_;  // under the mutex
};

/// Lives in the frame whose region its promises belong to, so that they are resolved before the region waits for them; one
/// that was given to it is of another region, which waits for it (OBL-11).
class Purse {
 public:
  explicit Purse(Journal& journal, Cx cx) noexcept : journal_(journal), cx_(cx) {}
  Purse(const Purse&) = delete;
  Purse& operator=(const Purse&) = delete;
  ~Purse() {
    while (!tokens_.empty()) (void)take(static_cast<std::uint32_t>(tokens_.size() - 1), End::abort);
  }

  /// Gives: 0, or the number of the error.
  std::uint64_t reserve(std::uint32_t kind);
  enum class End : std::uint8_t { commit, abort, drop };
  /// Gives: one of them, or nothing when there is none.
  std::shared_ptr<Gift> give(std::uint32_t which);
  void adopt(Gift& gift, TaskId task) {
    const OwnMemory own;
    tokens_.push_back(gift.take(task));
  }
  /// Resolves one of them; with none nothing happens. Gives: 0.
  std::uint64_t take(std::uint32_t which, End end);

 private:
  Obligation take_out(std::uint32_t which);

  Journal& journal_;
  Cx cx_;
  std::vector<Obligation> tokens_{};
};

}  // namespace calm::programs
