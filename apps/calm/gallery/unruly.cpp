// Programs that cannot be explored to an end, and what is said of them.
#include <memory>

#include "apps/calm/gallery/bugs.hpp"
#include "calm/explore/atomic.hpp"

namespace calm::gallery {

using explore::Threads;
using Word = explore::Atomic<int>;

Threads::Setup endless_spin(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Word& flag = threads.make<Word>(0);
    threads.run(
        [&flag] {
          while (flag.load() == 0) {
          }
        },
        "spinner");
    threads.run(
        [&flag, fixed] {
          flag.store(1);
          if (!fixed) flag.store(0);
        },
        "writer");
  };
}

Threads::Setup endless_work(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Word& word = threads.make<Word>(0);
    for (int i = 0; i < 2; ++i) {
      threads.run([&word, fixed] {
        for (int times = 0; !fixed || times < 3; ++times) word.store(times);
      });
    }
  };
}

Threads::Setup coin_toss(bool fixed, std::uint32_t /*n*/) {
  return [fixed, runs = std::make_shared<int>(0)](Threads& threads) {
    Word& heads = threads.make<Word>(0);
    Word& tails = threads.make<Word>(0);
    Word& shared = threads.make<Word>(0);
    const bool other = !fixed && ++*runs % 2 == 0;
    threads.run([&heads, &tails, other] { (other ? tails : heads).store(1); }, "tosser");
    for (int i = 0; i < 2; ++i) threads.run([&shared] { shared.store(1); });
  };
}

}  // namespace calm::gallery
