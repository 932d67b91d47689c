// Bugs of threads that share words.
#include <array>
#include <string>

#include "apps/calm/gallery/bugs.hpp"
#include "calm/explore/atomic.hpp"

namespace calm::gallery {
namespace {

using explore::Threads;
using Word = explore::Atomic<int>;

/// A stack of nodes 1 and 2, linked by number; 0 is the end. Its head has a tag above the number, which the broken stack
/// never changes.
class Treiber {
 public:
  static constexpr int nodes = 2;

  explicit Treiber(bool tagged) : tag_step_(tagged ? 1 << 8 : 0) {}

  int pop() {
    int head = head_.load();
    while (node_of(head) != 0) {
      const int next = next_[static_cast<std::size_t>(node_of(head))].load();
      if (head_.compare_exchange_strong(head, tag_after(head) | next)) return node_of(head);
    }
    return 0;
  }
  void push(int node) {
    int head = head_.load();
    do {
      next_[static_cast<std::size_t>(node)].store(node_of(head));
    } while (!head_.compare_exchange_strong(head, tag_after(head) | node));
  }

 private:
  static int node_of(int head) { return head & 0xFF; }
  [[nodiscard]] int tag_after(int head) const { return (head & ~0xFF) + tag_step_; }

  int tag_step_;
  Word head_{1};
  std::array<Word, nodes + 1> next_{0, 2, 0};
};

}  // namespace

Threads::Setup lost_update(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Word& counter = threads.make<Word>(0);
    for (int i = 0; i < 2; ++i) {
      threads.run([&counter, fixed] {
        if (fixed) {
          (void)counter.fetch_add(1);
        } else {
          const int seen = counter.load();
          counter.store(seen + 1);
        }
      });
    }
    threads.at_end([&threads, &counter] { threads.check(counter.load() == 2, "one of two updates is lost"); });
  };
}

Threads::Setup double_close(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Word& is_closed = threads.make<Word>(0);
    Word& closes = threads.make<Word>(0);
    for (int i = 0; i < 2; ++i) {
      threads.run([&threads, &is_closed, &closes, fixed] {
        if (fixed) {
          if (is_closed.exchange(1) != 0) return;
        } else {
          if (is_closed.load() != 0) return;
          is_closed.store(1);
        }
        threads.check(closes.fetch_add(1) == 0, "the file is closed twice");
      });
    }
  };
}

// [lost_wakeup]
Threads::Setup lost_wakeup(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Word& ready = threads.make<Word>(0);
    Word& parked = threads.make<Word>(0);
    Word& token = threads.make<Word>(0);
    threads.run(
        [&ready, &parked, &token, fixed] {
          if (fixed) parked.store(1);  // first say it, then look
          if (ready.load() != 0) return;
          if (!fixed) parked.store(1);
          token.wait(0);
        },
        "sleeper");
    threads.run(
        [&ready, &parked, &token] {
          ready.store(1);
          if (parked.load() != 0) token.store(1);
        },
        "waker");
  };
}
// [/lost_wakeup]

Threads::Setup aba_stack(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Treiber& stack = threads.make<Treiber>(fixed);
    auto& held = threads.make<std::array<int, 2>>();
    threads.run([&stack, &held] { held[0] = stack.pop(); }, "popper");
    threads.run(
        [&stack, &held] {
          const int first = stack.pop();
          held[1] = stack.pop();
          if (first != 0) stack.push(first);
        },
        "swapper");
    threads.at_end([&threads, &stack, &held] {
      std::array<int, Treiber::nodes + 1> owners{};
      for (const int node : held) ++owners[static_cast<std::size_t>(node)];
      for (int i = 0; i <= Treiber::nodes; ++i) ++owners[static_cast<std::size_t>(stack.pop())];
      for (std::size_t node = 1; node < owners.size(); ++node) {
        threads.check(owners[node] == 1, "node " + std::to_string(node) + " has " + std::to_string(owners[node]) +
                                             " owners: a pop took the head for the one it had seen");
      }
    });
  };
}

}  // namespace calm::gallery
