// end_fold.hpp — the ends of a region's children, folded as they come in, with the result of folding in creation order.
// Laws:    OUT-4, HND-3 (an end is never refused)
// Threads: a value; the kernel keeps one per region under the lock bit of its gate
// Cancel:  not applicable
//
// Creation order decides only between ends of equal severity, and among those only for Err and Panicked, which keep the
// payload of the earlier child; Cancelled strengthens, which is commutative and associative (CAN-4). So it is enough to
// remember the place of the child whose payload is kept. Notes are merged in the order in which children end.
#pragma once

#include <cstdint>
#include <new>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/model/fold.hpp"

namespace calm::kernel {

class EndFold {
 public:
  EndFold() noexcept : end_(ok()) {}

  [[nodiscard]] const ChildEnd& end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t place() const noexcept { return place_; }

  /// Adds the end of the child at this place of the creation sequence.
  void add(const ChildEnd& end, std::uint64_t place, RegionId region) noexcept {
    // Most of a cancelled region ends with one reason: nothing changes after the first of them.
    if (!end.notes().empty() || !(end.is_ok() || is_known(end))) add_new(end, place, region);
  }

  /// Puts another end in its place, as the region's last word.
  void replace(ChildEnd end) noexcept { end_ = std::move(end); }

  void clear() noexcept {
    end_ = ok();
    place_ = 0;
  }

 private:
  [[gnu::noinline]] void add_new(const ChildEnd& end, std::uint64_t place, RegionId region) noexcept {
    Notes notes = end_.notes();
    notes.merge(end.notes());
    if (!stopped_by_own_region(end, region)) take(end, place);
    end_ = std::move(end_).with_notes(std::move(notes));
  }

  [[nodiscard]] bool is_known(const ChildEnd& end) const noexcept {
    return end.is_cancelled() && end_.is_cancelled() && end_.reason().same_story(end.reason());
  }

  void take(const ChildEnd& end, std::uint64_t place) noexcept {
    if (end.kind() < end_.kind()) return;
    const bool worse = end.kind() > end_.kind();
    if (!worse && end.is_cancelled()) {
      strengthen_with(end.reason());
      return;
    }
    if (!worse && place >= place_) return;
    end_ = end;
    place_ = place;
  }

  void strengthen_with(const Reason& reason) noexcept {
    if (end_.reason().same_story(reason)) return;
    try {
      end_ = cancelled(strengthen(end_.reason(), reason));
    } catch (const std::bad_alloc&) {
      CALM_PROBE("fold: no memory to meet clean-up budgets");
      if (compare_strength(reason.levels(), end_.reason().levels()) < 0) end_ = cancelled(reason);
    }
  }

  ChildEnd end_;
  std::uint64_t place_ = 0;  // of the child whose payload end_ has
};

}  // namespace calm::kernel
