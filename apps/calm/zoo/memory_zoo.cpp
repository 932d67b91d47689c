// Programs over shared words: every access of a word is a step.
#include <array>
#include <vector>

#include "apps/calm/zoo/kinds.hpp"
#include "calm/explore/atomic.hpp"
#include "calm/explore/mutex.hpp"

namespace calm::zoo {
namespace {

using explore::Threads;
using Word = explore::Atomic<int>;
using explore::Mutex;

/// `count` words that are 0, kept by the run.
class Words {
 public:
  Words(Threads& threads, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) words_.push_back(&threads.make<Word>(0));
  }
  Word& operator[](std::uint32_t i) const { return *words_[i]; }

 private:
  std::vector<Word*> words_;
};

class Locks {
 public:
  Locks(Threads& threads, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) locks_.push_back(&threads.make<Mutex>());
  }
  Mutex& operator[](std::uint32_t i) const { return *locks_[i]; }

 private:
  std::vector<Mutex*> locks_;
};

}  // namespace

Threads::Setup readers(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    Word& x = threads.make<Word>(0);
    const Words own(threads, n);
    threads.run([&x] { x.store(42); });
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&x, &mine = own[i]] {
        (void)mine.load();
        (void)x.load();
      });
    }
  };
}

Threads::Setup lastzero(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    const Words a(threads, n + 1);
    threads.run([a, n] {
      std::uint32_t i = n;
      while (a[i].load() != 0) --i;
    });
    for (std::uint32_t j = 1; j <= n; ++j) {
      threads.run([a, j] { a[j].store(a[j - 1].load() + 1); });
    }
  };
}

Threads::Setup indexer(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    const Words table(threads, 128);
    for (std::uint32_t id = 0; id < n; ++id) {
      threads.run([table, id] {
        for (std::uint32_t k = 1; k <= 4; ++k) {
          const auto w = static_cast<int>(11 * k + id);
          std::uint32_t h = 7 * static_cast<std::uint32_t>(w) % 128;
          for (int empty = 0; !table[h].compare_exchange_strong(empty, w); empty = 0) h = (h + 1) % 128;
        }
      });
    }
  };
}

Threads::Setup filesystem(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    const Locks inode_locks(threads, 32);
    const Words inodes(threads, 32);
    const Locks block_locks(threads, 26);
    const Words busy(threads, 26);
    for (std::uint32_t id = 0; id < n; ++id) {
      threads.run([=] {
        const std::uint32_t i = id % 32;
        inode_locks[i].lock();
        if (inodes[i].load() == 0) {
          for (std::uint32_t b = 2 * i % 26;; b = (b + 1) % 26) {
            block_locks[b].lock();
            if (busy[b].load() == 0) {
              busy[b].store(1);
              inodes[i].store(static_cast<int>(b) + 1);
              block_locks[b].unlock();
              break;
            }
            block_locks[b].unlock();
          }
        }
        inode_locks[i].unlock();
      });
    }
  };
}

Threads::Setup popl(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    Word& z = threads.make<Word>(0);
    threads.run([&x] { x.store(1); });
    threads.run([&y] { y.store(1); });
    threads.run([&y, &z] {
      if (y.load() == 0) z.store(1);
    });
    threads.run([&x, &y, &z] {
      if (z.load() == 1 && y.load() == 0) x.store(2);
    });
  };
}

Threads::Setup sleeping_races(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& w = threads.make<Word>(0);
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    Word& z = threads.make<Word>(0);
    threads.run([&w] { w.store(1); });
    threads.run([&x] { x.store(1); });
    threads.run([&y] { y.store(1); });
    threads.run([&y, &z] {
      (void)y.load();
      z.store(1);
    });
    threads.run([&w, &x, &y, &z] {
      if (y.load() != 0 && z.load() != 0 && x.load() != 0) (void)w.load();
    });
  };
}

Threads::Setup trap(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& a = threads.make<Word>(0);
    Word& b = threads.make<Word>(0);
    Word& c = threads.make<Word>(0);
    Word& reached = threads.make<Word>(0);
    threads.run([&a, &b] {
      a.store(1);
      b.store(1);
    });
    threads.run([&b, &c] {
      for (const int value : {1, 2, 3}) c.store(value);
      b.store(2);
    });
    threads.run([&b, &c, &reached] {
      if (c.load() == 2 && b.load() == 0) reached.store(1);
    });
    threads.at_end(
        [&threads, &reached] { threads.check(reached.load() == 0, "the trap was reached: c was 2 and b was 0"); });
  };
}

Threads::Setup fetch_add(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    Word& x = threads.make<Word>(0);
    for (std::uint32_t i = 0; i < n; ++i) threads.run([&x] { x.fetch_add(1); });
  };
}

Threads::Setup increment(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    Word& x = threads.make<Word>(0);
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&x] {
        const int r = x.load();
        x.store(r + 1);
      });
    }
  };
}

Threads::Setup reversal(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    Word& z = threads.make<Word>(0);
    threads.run([&x] { (void)x.load(); });
    threads.run([&z] { z.store(1); });
    threads.run([&x, &y, &z] {
      y.store(1);
      x.store(1);
      z.store(1);
    });
    threads.run([&y, &z] {
      (void)z.load();
      z.store(1);
      y.store(1);
    });
  };
}

Threads::Setup stale_cas(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& x = threads.make<Word>(0);
    threads.run([&x] {
      int expected = 0;
      (void)x.compare_exchange_strong(expected, 1);
    });
    threads.run([&x] { (void)x.load(); });
    threads.run([&x] {
      int expected = 1;
      (void)x.compare_exchange_strong(expected, 1);
      x.store(1);
    });
  };
}

Threads::Setup siblings(std::uint32_t /*n*/, std::uint32_t /*m*/) {
  return [](Threads& threads) {
    Word& x = threads.make<Word>(0);
    Word& y = threads.make<Word>(0);
    threads.run([&y] { (void)y.load(); });
    threads.run([&x, &y] {
      (void)x.load();
      y.store(1);
    });
    threads.run([&y] { (void)y.load(); });
  };
}

Threads::Setup philosophers(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    const Locks forks(threads, n);
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([forks, i, n] {
        Mutex& left = forks[i];
        Mutex& right = forks[(i + 1) % n];
        left.lock();
        right.lock();
        left.unlock();
        right.unlock();
      });
    }
  };
}

Threads::Setup abba(std::uint32_t /*n*/, std::uint32_t /*m*/) { return philosophers(2, 0); }

Threads::Setup cancel(std::uint32_t n, std::uint32_t m) {
  return [n, m](Threads& threads) {
    Word& flag = threads.make<Word>(0);
    threads.run([&flag] { flag.store(1); });
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&flag, m] {
        for (std::uint32_t polls = 0; polls < m && flag.load() == 0; ++polls) {
        }
      });
    }
  };
}

Threads::Setup race(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    Word& winner = threads.make<Word>(0);
    for (std::uint32_t i = 0; i < n; ++i) {
      threads.run([&winner, i] {
        int none = 0;
        (void)winner.compare_exchange_strong(none, static_cast<int>(i) + 1);
      });
    }
  };
}

Threads::Setup commit_cancel(std::uint32_t /*n*/, std::uint32_t /*m*/) { return race(2, 0); }

Threads::Setup join_all(std::uint32_t n, std::uint32_t /*m*/) {
  return [n](Threads& threads) {
    const Words done(threads, n);
    for (std::uint32_t i = 0; i < n; ++i) threads.run([&mine = done[i]] { mine.store(1); });
    threads.run([done, n] {
      for (std::uint32_t i = 0; i < n; ++i) done[i].wait(0);
    });
  };
}

}  // namespace calm::zoo
