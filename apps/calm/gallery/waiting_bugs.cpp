// Bugs of async tasks that wait in a line: who is chosen and does not come.
#include <algorithm>
#include <deque>

#include "apps/calm/gallery/bugs.hpp"
#include "apps/calm/gallery/place.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/mutex.hpp"

namespace calm::gallery {
namespace {

using explore::Threads;

/// A line of waiters and the grants for them: a notify that is kept, a semaphore, a fair lock, by what a grant means.
class Line {
 public:
  /// A place in the line, as a future holds it.
  struct Ticket {
    bool granted = false;
  };

  Line(Threads& threads, int spare) : place_(threads), spare_(spare) {}

  /// Takes a spare grant, or stands last.
  void join(Ticket& ticket) {
    place_.step("join");
    if (spare_ == 0) {
      line_.push_back(&ticket);
    } else {
      --spare_;
      ticket.granted = true;
    }
  }
  void wait(const Ticket& ticket) {
    place_.step_when("wait", [&ticket] { return ticket.granted; });
  }
  /// Gives: false when it was interrupted, which it looks at first.
  bool wait_or_interrupted(const Ticket& ticket) {
    place_.step_when("wait", [this, &ticket] { return ticket.granted || interrupted_; });
    return !interrupted_;
  }
  /// Gives: false when it was interrupted before it was granted.
  bool wait_at_most(const Ticket& ticket) {
    place_.step_when("wait", [this, &ticket] { return ticket.granted || interrupted_; });
    return ticket.granted;
  }
  /// To the first in the line, or kept.
  void grant() {
    place_.step("grant");
    pass_on();
  }
  /// Leaves the line. A grant that has come already goes to the next one, or is lost.
  void drop(Ticket& ticket, bool passes_on) {
    place_.step("drop");
    line_.erase(std::remove(line_.begin(), line_.end(), &ticket), line_.end());
    if (ticket.granted && passes_on) pass_on();
  }
  /// A cancel, or a timer.
  void interrupt() {
    place_.step("interrupt");
    interrupted_ = true;
  }
  [[nodiscard]] int spare() const { return spare_; }

 private:
  void pass_on() {
    if (line_.empty()) {
      ++spare_;
    } else {
      line_.front()->granted = true;
      line_.pop_front();
    }
  }

  Place place_;
  std::deque<Ticket*> line_;
  int spare_;
  bool interrupted_ = false;
};

/// One who waits and may be cancelled, one who waits behind or before him, and who comes when grants do.
void add_two_waiters(Threads& threads, Line& line, bool passes_on) {
  threads.run(
      [&line, passes_on] {
        Line::Ticket ticket;
        line.join(ticket);
        if (line.wait_or_interrupted(ticket)) {
          line.grant();
        } else {
          line.drop(ticket, passes_on);
        }
      },
      "cancelled");
  threads.run(
      [&line] {
        Line::Ticket ticket;
        line.join(ticket);
        line.wait(ticket);
        line.grant();
      },
      "patient");
  threads.run([&line] { line.interrupt(); }, "canceller");
}

}  // namespace

Threads::Setup dropped_wake(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Line& line = threads.make<Line>(threads, 0);
    add_two_waiters(threads, line, fixed);
    threads.run([&line] { line.grant(); }, "notifier");
  };
}

Threads::Setup dropped_permit(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Line& semaphore = threads.make<Line>(threads, 1);
    threads.run(
        [&semaphore] {
          Line::Ticket permit;
          semaphore.join(permit);
          semaphore.wait(permit);
          semaphore.grant();
        },
        "holder");
    add_two_waiters(threads, semaphore, fixed);
    threads.at_end([&threads, &semaphore] { threads.check(semaphore.spare() == 1, "a permit is lost"); });
  };
}

Threads::Setup futurelock(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Line& lock = threads.make<Line>(threads, 1);
    threads.run(
        [&lock] {
          Line::Ticket ticket;
          lock.join(ticket);
          lock.wait(ticket);
          lock.grant();
        },
        "holder");
    threads.run(
        [&lock, fixed] {
          Line::Ticket first;
          lock.join(first);
          if (lock.wait_at_most(first)) return lock.grant();
          // Time is up. The future of the first attempt is no longer polled, but still in the line.
          if (fixed) lock.drop(first, true);
          Line::Ticket second;
          lock.join(second);
          lock.wait(second);
          lock.grant();
          if (!fixed) lock.drop(first, true);
        },
        "select");
    threads.run([&lock] { lock.interrupt(); }, "timer");
  };
}

Threads::Setup lock_across_await(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    // Who holds the worker runs on the one thread of the executor. An await gives it away, a blocking lock does not.
    explore::Mutex& worker = threads.make<explore::Mutex>();
    explore::Mutex& mutex = threads.make<explore::Mutex>();
    auto& elapsed = threads.make<explore::Atomic<int>>(0);
    threads.run(
        [&worker, &mutex, &elapsed, fixed] {
          worker.lock();
          mutex.lock();
          if (fixed) mutex.unlock();
          worker.unlock();
          elapsed.wait(0);
          worker.lock();
          if (!fixed) mutex.unlock();
          worker.unlock();
        },
        "sleeping task");
    threads.run(
        [&worker, &mutex] {
          worker.lock();
          mutex.lock();
          mutex.unlock();
          worker.unlock();
        },
        "other task");
    threads.run([&elapsed] { elapsed.store(1); }, "timer");
  };
}

}  // namespace calm::gallery
