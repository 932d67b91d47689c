// execution.hpp — one run as the explorer remembers it: its events, which happens before which, and its fingerprint.
// Laws:    LAB-4
// Threads: one
// Cancel:  not applicable
//
// Happens-before is the order of each process and of conflicting steps. An event knows how many events of each process
// happen before or are itself (a vector clock), and which layer of the Foata form it is in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "calm/explore/footprint.hpp"
#include "calm/explore/program.hpp"

namespace calm::explore {

struct Event {
  Process process = 0;
  StepKind kind = StepKind::free;
  Way way = 0;
  Way ways = 1;                   ///< how many it had to choose from
  std::uint32_t number = 0;       ///< the how manieth of its process, from 1
  std::uint32_t layer = 0;        ///< of the Foata form, from 1
  std::uint32_t previous = 0;     ///< 1 + the index of the event of its process before it; 0 for none
  std::uint64_t fingerprint = 0;  ///< of all events up to this one
  Footprint touched;
};

/// As much of an event as most questions need: a long look back is quick over these.
struct Brief {
  std::uint32_t touch = 1;  ///< its bits, when there is one
  std::uint32_t mask = 0;   ///< all ones then; else none, so that every location looks the same
  std::uint16_t number = 0;
  Process process = 0;
};

class Execution {
 public:
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] const Event& operator[](std::uint32_t i) const noexcept { return events_.data()[i]; }

  [[nodiscard]] const Brief& brief(std::uint32_t i) const noexcept { return briefs_.data()[i]; }

  /// Keeps the first `size` events.
  void cut_to(std::uint32_t size) noexcept;

  /// Gives: the event to fill in; finish() adds it.
  [[nodiscard]] Event& next();
  /// Computes what follows from the events before. Needs: process, kind and touched of next() are set.
  void finish();

  /// Gives: true when event `a` happens before event `b`, or is it. Needs: a <= b.
  [[nodiscard]] bool happens_before(std::uint32_t a, std::uint32_t b) const noexcept {
    return clock(b)[(*this)[a].process] >= (*this)[a].number;
  }

  /// Gives: the events that conflict with the last one and happen before no other such event nor before its process's
  ///        event before, latest first. Needs: nothing was cut since finish().
  [[nodiscard]] const std::vector<std::uint32_t>& joined() const noexcept { return joined_; }

  /// The clock of an event: how many events of each process happen before it or are itself.
  [[nodiscard]] const std::uint16_t* clock(std::uint32_t i) const noexcept {
    return clocks_.data() + std::size_t{i} * width_;
  }
  /// Gives: 1 + the index of the last event of the process; 0 for none.
  [[nodiscard]] std::uint32_t last_of(Process process) const noexcept { return last_[process]; }
  /// Gives: how many numbers a clock has: at least one for each process that has taken a step.
  [[nodiscard]] std::uint32_t width() const noexcept { return width_; }

  /// Gives: a hash of the Foata form: equal for executions that differ only in the order of steps that commute.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept { return size_ == 0 ? 0 : (*this)[size_ - 1].fingerprint; }

  /// Gives: who ran, in order.
  [[nodiscard]] std::vector<Process> schedule() const;
  /// Gives: the ways that the steps went, in order; nothing when all went way 0.
  [[nodiscard]] std::vector<Way> ways() const;

 private:
  void widen(Process process);
  [[nodiscard]] std::uint64_t conflicts_in(const Brief& own, std::uint32_t begin, std::uint32_t end) const noexcept;
  void join(Event& event, std::uint32_t i);

  std::vector<Event> events_;  // those beyond size_ keep their memory
  std::vector<Brief> briefs_;  // of the same events
  std::vector<std::uint16_t> clocks_;
  std::vector<std::uint32_t> joined_;
  std::array<std::uint32_t, process_max> last_{};
  std::uint32_t size_ = 0;
  std::uint32_t width_ = 8;
};

}  // namespace calm::explore
