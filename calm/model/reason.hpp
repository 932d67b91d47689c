// reason.hpp — why work was cancelled: an immutable story of at most 16 levels, shared by everyone it concerns.
// Laws:    CAN-2, CAN-4, CAN-5 (what a child region is told), HND-3 (a chain truncates where memory fails)
// Threads: the story may be read and shared anywhere; one Reason object belongs to one thread at a time
// Cancel:  this is what a cancellation carries
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/mem/ref.hpp"
#include "calm/model/reason_order.hpp"

namespace calm {

class Reason;

/// What a new reason is made from.
struct ReasonSpec {
  CancelKind kind = CancelKind::user;
  RegionId region{};
  TaskId task{};
  Time at{};
  std::string_view message{};
  const Reason* cause = nullptr;
  Duration cleanup_time = default_cleanup_time;
};

namespace detail {

/// One allocation: this header, then the levels, then the bytes of their messages.
class ReasonBlock : public mem::RefCounted {
 public:
  /// Gives: a block with the first level and as many causes as the limits allow, or nullptr without memory.
  static ReasonBlock* make(ReasonLevel first, ReasonView causes, bool truncated) noexcept;
  /// Gives: one with a level that says nothing yet, or nullptr without memory.
  static ReasonBlock* make_empty() noexcept;
  static void destroy(const ReasonBlock* block) noexcept;

  [[nodiscard]] ReasonView view() const noexcept { return {levels(), depth_, truncated_}; }
  [[nodiscard]] const ReasonLevel& first() const noexcept { return *levels(); }

  /// Needs: the caller is the only owner. Replaces the whole story by one level without message and causes.
  void become(ReasonLevel only) noexcept;
  void set_cleanup(const Budget& cleanup) noexcept { levels()->cleanup = cleanup; }

 private:
  ReasonBlock() noexcept = default;
  ~ReasonBlock() = default;
  /// Gives: a block without levels yet, or nullptr without memory.
  static ReasonBlock* make_room(std::size_t depth, std::size_t text_bytes) noexcept;
  [[nodiscard]] ReasonLevel* levels() const noexcept {
    static_assert(sizeof(ReasonBlock) % alignof(ReasonLevel) == 0 &&
                  alignof(ReasonLevel) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): the levels are no part of this object
    void* place = const_cast<ReasonBlock*>(this) + 1;
    return std::launder(static_cast<ReasonLevel*>(place));
  }

  std::uint8_t depth_ = 0;
  bool truncated_ = false;
};

}  // namespace detail

/// Memory for one level, taken ahead, so that a later cancel cannot fail (HND-3).
class ReasonReserve {
 public:
  ReasonReserve() noexcept = default;

  /// Fails: an empty reserve when there is no memory.
  static ReasonReserve take() noexcept;

  explicit operator bool() const noexcept { return bool(block_); }

 private:
  friend class Reason;
  mem::Ref<detail::ReasonBlock> block_;
};

/// A pointer-sized value; copying shares. The default value is no reason.
class Reason {
 public:
  constexpr Reason() noexcept = default;

  /// A new reason. With a cause, severity is the larger and the clean-up budget the meet of both (CAN-5).
  /// Fails: std::bad_alloc.
  explicit Reason(const ReasonSpec& spec);

  /// The same, and never fails: without memory the message and the causes are dropped, and the mark says so.
  /// Needs: a reserve that was taken.
  Reason(const ReasonSpec& spec, ReasonReserve reserve) noexcept;

  /// A reason of which nothing is known but this: one level, marked as truncated. Fails: std::bad_alloc.
  static Reason without_story(const ReasonLevel& level);

  constexpr explicit operator bool() const noexcept { return bool(block_); }

  /// The rest needs a reason that is one.
  [[nodiscard]] CancelKind kind() const noexcept { return first().kind; }
  [[nodiscard]] std::uint8_t severity() const noexcept { return first().severity; }
  [[nodiscard]] RegionId region() const noexcept { return first().region; }
  [[nodiscard]] TaskId task() const noexcept { return first().task; }
  [[nodiscard]] Time at() const noexcept { return first().at; }
  [[nodiscard]] std::string_view message() const noexcept { return first().message; }
  [[nodiscard]] const Budget& cleanup() const noexcept { return first().cleanup; }
  [[nodiscard]] bool truncated() const noexcept { return levels().truncated; }

  /// Gives: the whole story, this reason first, the oldest known cause last. Valid while a Reason that shares it lives.
  [[nodiscard]] ReasonView levels() const noexcept {
    CALM_REQUIRE(CAN_2, bool(block_));
    return block_->view();
  }

  /// Gives: the story in readable lines: who, when, why, and what clean-up may use (OBS-3).
  [[nodiscard]] std::string explain() const;

  /// True when both share one block: the quick answer to whether there is anything to compare.
  [[nodiscard]] bool same_story(const Reason& other) const noexcept { return block_.get() == other.block_.get(); }

  /// True when both tell the same story with the same clean-up budgets.
  friend bool operator==(const Reason& a, const Reason& b) noexcept;

  /// Gives: the stronger of both, with the meet of their clean-up budgets. Commutative, associative, idempotent; no
  /// reason is the identity (CAN-4). Never allocates when one story already has the met budget or is not shared.
  /// Fails: std::bad_alloc otherwise; both reasons are as before.
  friend Reason strengthen(Reason a, Reason b);

 private:
  static Reason adopt(detail::ReasonBlock* block) noexcept;
  [[nodiscard]] const ReasonLevel& first() const noexcept {
    CALM_REQUIRE(CAN_2, bool(block_));
    return block_->first();
  }

  mem::Ref<detail::ReasonBlock> block_;
};

Reason strengthen(Reason a, Reason b);

/// Gives: what a region that was cancelled tells its child regions: ParentCancelled, caused by its own reason (CAN-5).
inline ReasonSpec parent_cancelled(const Reason& cause, RegionId parent, Time at) noexcept {
  return {.kind = CancelKind::parent_cancelled, .region = parent, .task = {}, .at = at, .message = {}, .cause = &cause};
}

/// Gives: one line, `Timeout at 2s by r3 t4: "too slow"`; `none` for no reason.
std::string to_string(const ReasonLevel& level);
std::string to_string(const Reason& reason);

}  // namespace calm
