// recorder.hpp — how the kernel writes the story of a run: one recorder per worker, one order for all of them.
// Laws:    LAB-2, LAB-4 (the footprint), HND-3
// Threads: a recorder belongs to the worker that writes its ring; a sequence source serves them all
// Cancel:  not applicable
//
// With CALM_NO_TRACE recorders do nothing and take no space. The choice must be one for the whole program; a recorder
// has another name under each choice, so that a mixed program does not link.
#pragma once

#include <atomic>
#include <cstdint>

#include "calm/lockfree/company.hpp"
#include "calm/model/error_code.hpp"
#include "calm/model/id.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/event.hpp"
#include "calm/trace/resource.hpp"
#include "calm/trace/ring.hpp"

namespace calm::trace {

/// Numbers the events of one runtime with several rings, from 1, each number once.
class alignas(128) SequenceSource {
 public:
  /// Only members of this company ask from now on, and are in it when they do. Needs: the company outlives this.
  void keep_among(lockfree::Company<>& company) noexcept { company_ = &company; }

  [[gnu::always_inline]] std::uint64_t next() noexcept {
    // Relaxed: the numbers order events and publish nothing. All changes of one word have one order, and it agrees with
    // what happens before what: a later event has a larger number.
    if (company_ != nullptr && company_->begin_alone(lockfree::AloneIn::event)) {
      const std::uint64_t number = next_alone();
      company_->end_alone(lockfree::AloneIn::event);
      return number;
    }
    return last_.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  /// The same. Needs: nobody else asks meanwhile.
  [[gnu::always_inline]] std::uint64_t next_alone() noexcept {
    const std::uint64_t number = last_.load(std::memory_order_relaxed) + 1;
    last_.store(number, std::memory_order_relaxed);
    return number;
  }

 private:
  lockfree::Company<>* company_ = nullptr;
  std::atomic<std::uint64_t> last_{0};
};

#if defined(CALM_NO_TRACE)
inline namespace untraced {

class Recorder {
 public:
  explicit Recorder(Ring& /*ring*/, SequenceSource* /*sequence*/ = nullptr) noexcept {}

  void set_time(Time /*now*/) noexcept {}
  Status record(const Event& /*event*/) noexcept { return {}; }
  template <bool several = true, bool alone = false>
  void write(const Event& /*event*/) noexcept {}
  template <bool several = true, bool alone = false>
  void write_to(Ring& /*ring*/, const Event& /*event*/, bool /*alone_now*/ = false) noexcept {}
  Status touch(ResourceId /*resource*/, Access /*access*/, TaskId /*task*/) noexcept { return {}; }
  [[nodiscard]] Status room(std::uint64_t /*count*/) const noexcept { return {}; }
  [[nodiscard]] std::uint64_t last() const noexcept { return 0; }
};

}  // namespace untraced
#else
inline namespace traced {

class Recorder {
 public:
  /// Without a source the events of this ring are all there are: the first of a new ring is number 1, and so on.
  /// Needs: both outlive the recorder; nobody else writes this ring.
  explicit Recorder(Ring& ring, SequenceSource* sequence = nullptr) noexcept : ring_(&ring), sequence_(sequence) {}

  /// What the next events give as their time: recording never reads a clock.
  void set_time(Time now) noexcept { time_ = now; }

  /// Takes an event, with sequence, time, worker and position filled in.
  /// Needs: a kind; a cause that was recorded before.
  /// Fails: resource_exhausted when the ring is full and strict; then nothing has changed and no number is lost.
  [[gnu::always_inline]] Status record(const Event& event) noexcept {
    if (const Status status = room(1); !status) [[unlikely]] {
      CALM_PROBE("trace recorder: a strict ring is full");
      return status;
    }
    write(event);
    return {};
  }

  /// The same. Needs: room(1); `several` unless there is no sequence source; with `alone` nobody else asks that meanwhile.
  template <bool several = true, bool alone = false>
  [[gnu::always_inline]] void write(const Event& event) noexcept {
    write_to<several, alone>(*ring_, event);
  }
  /// The same for who knows where the ring is. Needs: it is that one; as with `alone` when it is so now.
  template <bool several = true, bool alone = false>
  [[gnu::always_inline]] void write_to(Ring& ring, const Event& event, bool alone_now = alone) noexcept {
    CALM_SLOW(LAB_2, &ring == ring_);
    CALM_SLOW(LAB_2, several || sequence_ == nullptr);
    CALM_SLOW(LAB_2, find_event_kind(static_cast<std::uint8_t>(event.kind)) != nullptr,
              static_cast<std::uint8_t>(event.kind));
    const std::uint64_t position = ring.next_position();
    std::uint64_t sequence = position + 1;
    if (several && sequence_ != nullptr) sequence = alone_now ? sequence_->next_alone() : sequence_->next();
    CALM_SLOW(LAB_2, event.cause < sequence, event.cause, sequence);
    EventWords words = to_words(event);
    words[1] = sequence;
    words[2] = time_.ns();
    ring.template write<!several>(position, words);
  }

  /// Takes the footprint of a step: this task read or wrote this resource. It may touch several, one call each.
  /// Fails: as record.
  Status touch(ResourceId resource, Access access, TaskId task) noexcept {
    return record({.kind = EventKind::access, .access = access, .task = task, .resource = resource});
  }

  /// Gives: ok when the next `count` events will be taken, else resource_exhausted. Who must not fail half-way asks first.
  [[nodiscard]] Status room(std::uint64_t count) const noexcept { return ring_->room(count); }

  /// Gives: the sequence of the last event recorded here, to be the cause of others; 0 when there is none.
  [[nodiscard]] std::uint64_t last() const noexcept { return ring_->newest_sequence(); }

 private:
  Ring* ring_;
  SequenceSource* sequence_;
  Time time_;
};

}  // namespace traced
#endif

}  // namespace calm::trace
