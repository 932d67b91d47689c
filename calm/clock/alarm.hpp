// alarm.hpp — alarms in the order of their time, each in memory of its own: arming one takes none.
// Laws:    TMR-3 (never early; equal times in the order of arming), TMR-4 (cancel by the alarm itself)
// Threads: one thread at a time
// Cancel:  disarm() takes an alarm out wherever it stands
//
// A pairing heap: the earliest is at the root, a node's children are a list of heaps that are all later. Arming is one
// comparison, taking out pays for the order.
#pragma once

#include <cstdint>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"

namespace calm::clock {

/// Lives with the one who waits for it; in a queue it stays where it is.
struct Alarm {
  Time at{};
  TaskId task{};               ///< who is woken
  std::uint64_t sequence = 0;  ///< of its arming; the queue's
  Alarm* child = nullptr;      ///< the queue's: first of its children
  Alarm* after = nullptr;      ///< the queue's: next sibling
  Alarm* before = nullptr;     ///< the queue's: previous sibling, or the parent of the first one
  bool armed = false;

  Alarm() noexcept = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm() { CALM_REQUIRE(TMR_4, !armed, at.ns()); }
};

class AlarmQueue {
 public:
  AlarmQueue() noexcept = default;
  AlarmQueue(const AlarmQueue&) = delete;
  AlarmQueue& operator=(const AlarmQueue&) = delete;

  [[nodiscard]] bool empty() const noexcept { return root_ == nullptr; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  /// Gives: when the next one is due. Needs: not empty.
  [[nodiscard]] Time next() const noexcept { return root_->at; }

  /// Needs: not armed; it stays in place until it fires or is disarmed.
  void arm(Alarm& alarm) noexcept {
    CALM_REQUIRE(TMR_4, !alarm.armed);
    alarm.sequence = sequence_++;
    alarm.armed = true;
    root_ = merge(root_, &alarm);
    ++size_;
  }

  /// Gives: false when it had fired already.
  bool disarm(Alarm& alarm) noexcept {
    if (!alarm.armed) return false;
    if (&alarm == root_) {
      root_ = merge_all(alarm.child);
    } else {
      (alarm.before->child == &alarm ? alarm.before->child : alarm.before->after) = alarm.after;
      if (alarm.after != nullptr) alarm.after->before = alarm.before;
      root_ = merge(root_, merge_all(alarm.child));
    }
    forget(alarm);
    return true;
  }

  /// Gives: the next one that is due by now, disarmed; nullptr when there is none. By time, then by arming (TMR-3).
  [[nodiscard]] Alarm* take_due(Time now) noexcept {
    if (root_ == nullptr || root_->at > now) return nullptr;
    Alarm& alarm = *root_;
    root_ = merge_all(alarm.child);
    forget(alarm);
    return &alarm;
  }

 private:
  static bool earlier(const Alarm& a, const Alarm& b) noexcept {
    return a.at != b.at ? a.at < b.at : a.sequence < b.sequence;
  }

  void forget(Alarm& alarm) noexcept {
    alarm.child = nullptr;
    alarm.after = nullptr;
    alarm.before = nullptr;
    alarm.armed = false;
    --size_;
  }

  static Alarm* merge(Alarm* a, Alarm* b) noexcept {
    if (a == nullptr) return b;
    if (b == nullptr) return a;
    if (earlier(*b, *a)) std::swap(a, b);
    b->before = a;
    b->after = a->child;
    if (a->child != nullptr) a->child->before = b;
    a->child = b;
    return a;
  }

  /// Makes one heap of a list: in pairs from the left, then from the right.
  static Alarm* merge_all(Alarm* list) noexcept {
    Alarm* pairs = nullptr;  // linked by `after`, newest first
    while (list != nullptr) {
      Alarm* const first = list;
      Alarm* const second = first->after;
      list = second == nullptr ? nullptr : second->after;
      first->after = nullptr;
      first->before = nullptr;
      if (second != nullptr) {
        second->after = nullptr;
        second->before = nullptr;
      }
      Alarm* const pair = merge(first, second);
      pair->after = pairs;
      pairs = pair;
    }
    Alarm* heap = nullptr;
    while (pairs != nullptr) {
      Alarm* const pair = pairs;
      pairs = pair->after;
      pair->after = nullptr;
      heap = merge(heap, pair);
    }
    return heap;
  }

  Alarm* root_ = nullptr;
  std::uint64_t size_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace calm::clock
