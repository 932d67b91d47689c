// recorder.hpp — how the kernel writes the story of a run: one recorder per worker, one order for all of them.
// Laws:    LAB-2, LAB-4 (the footprint), HND-3
// Threads: a recorder belongs to the worker that writes its ring; a sequence source serves one or several workers
// Cancel:  not applicable
//
// With CALM_NO_TRACE recorders do nothing and take no space. The choice must be one for the whole program; a recorder
// has another name under each choice, so that a mixed program does not link.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/resource.hpp"
#include "calm/trace/ring.hpp"

namespace calm::trace {

enum class Workers : std::uint8_t { one, several };

/// Numbers the events of one runtime, from 1, each number once.
class alignas(128) SequenceSource {
 public:
  explicit SequenceSource(Workers workers) noexcept : workers_(workers) {}

  /// Needs: for Workers::one no two calls at a time.
  std::uint64_t next() noexcept {
    // Relaxed: the numbers order events and publish nothing. All changes of one word have one order, and it agrees with
    // what happens before what: a later event has a larger number.
    if (workers_ == Workers::several) return last_.fetch_add(1, std::memory_order_relaxed) + 1;
    const std::uint64_t number = last_.load(std::memory_order_relaxed) + 1;
    last_.store(number, std::memory_order_relaxed);
    return number;
  }

 private:
  std::atomic<std::uint64_t> last_{0};
  Workers workers_;
};

#if defined(CALM_NO_TRACE)
inline namespace untraced {

class Recorder {
 public:
  Recorder(Ring& /*ring*/, SequenceSource& /*sequence*/) noexcept {}

  void set_time(Time /*now*/) noexcept {}
  Status record(const Event& /*event*/) noexcept { return {}; }
  Status touch(ResourceId /*resource*/, Access /*access*/, TaskId /*task*/) noexcept { return {}; }
  [[nodiscard]] Status room(std::uint64_t /*count*/) const noexcept { return {}; }
  [[nodiscard]] std::uint64_t last() const noexcept { return 0; }
};

}  // namespace untraced
#else
inline namespace traced {

class Recorder {
 public:
  /// Needs: both outlive the recorder; no other recorder writes this ring.
  Recorder(Ring& ring, SequenceSource& sequence) noexcept : ring_(&ring), sequence_(&sequence) {}

  /// What the next events give as their time: recording never reads a clock.
  void set_time(Time now) noexcept { time_ = now; }

  /// Takes an event, with sequence, time, worker and position filled in.
  /// Needs: a kind; a cause that was recorded before.
  /// Fails: resource_exhausted when the ring is full and strict; then nothing has changed and no number is lost.
  [[gnu::always_inline]] Status record(const Event& event) noexcept {
    CALM_SLOW(LAB_2, find_event_kind(static_cast<std::uint8_t>(event.kind)) != nullptr,
              static_cast<std::uint8_t>(event.kind));
    Ring& ring = *ring_;
    if (const Status status = ring.room(1); !status) [[unlikely]] {
      CALM_PROBE("trace recorder: a strict ring is full");
      return status;
    }
    const std::uint64_t sequence = sequence_->next();
    last_ = sequence;
    CALM_SLOW(LAB_2, event.cause < sequence, event.cause, sequence);
    EventWords words = to_words(event);
    words[1] = sequence;
    words[2] = time_.ns();
    ring.write(words);
    return {};
  }

  /// Takes the footprint of a step: this task read or wrote this resource. It may touch several, one call each.
  /// Fails: as record.
  Status touch(ResourceId resource, Access access, TaskId task) noexcept {
    return record({.kind = EventKind::access, .access = access, .task = task, .resource = resource});
  }

  /// Gives: ok when the next `count` events will be taken, else resource_exhausted. Who must not fail half-way asks first.
  [[nodiscard]] Status room(std::uint64_t count) const noexcept { return ring_->room(count); }

  /// Gives: the sequence of the last event recorded here, to be the cause of others; 0 when there is none.
  [[nodiscard]] std::uint64_t last() const noexcept { return last_; }

 private:
  Ring* ring_;
  SequenceSource* sequence_;
  Time time_;
  std::uint64_t last_ = 0;
};

}  // namespace traced
#endif

}  // namespace calm::trace
