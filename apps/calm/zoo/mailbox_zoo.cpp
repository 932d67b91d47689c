// Programs that pass messages: mailboxes whose parts are places of their own, or one, and a queue of work.
#include <vector>

#include "apps/calm/zoo/kinds.hpp"
#include "calm/explore/atomic.hpp"

namespace calm::zoo {
namespace {

using explore::Location;
using explore::StepKind;
using explore::Threads;
using explore::Touch;

/// Fine: the k-th send writes {tail, slot k}, the k-th receive writes {head} and reads {slot k}.
/// Coarse: every operation writes the whole.
class Mailbox {
 public:
  Mailbox(Threads& threads, bool fine, std::uint32_t capacity) : threads_(threads), fine_(fine) {
    whole_ = threads.new_location();
    tail_ = threads.new_location();
    head_ = threads.new_location();
    for (std::uint32_t i = 0; i < capacity; ++i) slots_.push_back(threads.new_location());
  }

  void send() {
    // Which slot it gets depends on the others.
    threads_.arrive(
        {.kind = fine_ ? StepKind::free : StepKind::fixed, .location = fine_ ? tail_ : whole_, .write = true});
    if (fine_) {
      threads_.touch(Touch::write(tail_));
      threads_.touch(Touch::write(slots_[sent_]));
    } else {
      threads_.touch(Touch::write(whole_));
    }
    ++sent_;
  }
  void receive() {
    // Who waits, waits for its slot; it does not look at the tail.
    threads_.arrive({.kind = StepKind::free,
                     .location = fine_ ? slots_[received_] : whole_,
                     .write = !fine_,
                     .can_go_on =
                         [](const void* word) {
                           const auto& box = *static_cast<const Mailbox*>(word);
                           return box.sent_ > box.received_;
                         },
                     .word = this});
    if (fine_) {
      threads_.touch(Touch::write(head_));
      threads_.touch(Touch::read(slots_[received_]));
    } else {
      threads_.touch(Touch::write(whole_));
    }
    ++received_;
  }

 private:
  Threads& threads_;
  bool fine_;
  Location whole_;
  Location tail_;
  Location head_;
  std::vector<Location> slots_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

Threads::Setup mailbox_of(std::uint32_t n, std::uint32_t m, bool fine) {
  return [n, m, fine](Threads& threads) {
    Mailbox& box = threads.make<Mailbox>(threads, fine, n * m);
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&box, m] {
        for (std::uint32_t k = 0; k < m; ++k) box.send();
      });
    }
    threads.run([&box, n, m] {
      for (std::uint32_t k = 0; k < n * m; ++k) box.receive();
    });
  };
}

/// Items that are taken one by one; to find none is a read.
class WorkQueue {
 public:
  WorkQueue(Threads& threads, std::uint32_t items) : threads_(threads), left_(items), place_(threads.new_location()) {}

  /// Gives: the number of the item, from 1; 0 when there is none left.
  std::uint32_t pop() {
    threads_.arrive({.kind = StepKind::free, .location = place_, .write = true});
    threads_.touch(left_ == 0 ? Touch::read(place_) : Touch::write(place_));
    return left_ == 0 ? 0 : left_--;
  }

 private:
  Threads& threads_;
  std::uint32_t left_;
  Location place_;
};

}  // namespace

Threads::Setup mailbox(std::uint32_t n, std::uint32_t m) { return mailbox_of(n, m, true); }
Threads::Setup mailbox_coarse(std::uint32_t n, std::uint32_t /*m*/) { return mailbox_of(n, 1, false); }

Threads::Setup workqueue(std::uint32_t n, std::uint32_t m) {
  return [n, m](Threads& threads) {
    WorkQueue& queue = threads.make<WorkQueue>(threads, m);
    std::vector<explore::Atomic<int>*> results;
    for (std::uint32_t i = 0; i <= m; ++i) results.push_back(&threads.make<explore::Atomic<int>>(0));
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&queue, results] {
        while (const std::uint32_t item = queue.pop()) results[item]->store(1);
      });
    }
  };
}

Threads::Setup pipeline(std::uint32_t n, std::uint32_t m) {
  return [n, m](Threads& threads) {
    std::vector<Mailbox*> boxes;
    for (std::uint32_t i = 0; i + 1 < n; ++i) boxes.push_back(&threads.make<Mailbox>(threads, true, m));
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([boxes, i, n, m] {
        for (std::uint32_t k = 0; k < m; ++k) {
          if (i > 0) boxes[i - 1]->receive();
          if (i + 1 < n) boxes[i]->send();
        }
      });
    }
  };
}

}  // namespace calm::zoo
