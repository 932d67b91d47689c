// allocation_points.hpp — makes allocations fail on purpose, one or all of them, to see what the code above does then.
// Laws:    LAB-7 (allocation failure at every allocation in turn), HND-3
// Threads: what one thread asks for concerns its own allocations only
// Cancel:  not applicable
//
// Who allocates asks refuse() first. Of the program's own allocations those are seen that go through operator new, where
// the program links calm::fail_new; of calm's caches, which reuse memory without an allocation, those of records and frames.
#pragma once

#include <atomic>
#include <cstdint>

namespace calm::mem {

class AllocationPoints {
 public:
  /// Whether memory that comes out of calm's caches counts: a record or a frame that needs no allocation now might have
  /// needed one.
  enum class Caches : std::uint8_t { left_out, counted };

  /// Counts from now on; the n-th fails, the first being 1, with 0 none. Needs: not watching.
  static void watch(std::uint64_t nth, Caches caches) noexcept;
  /// Gives: how many there were since.
  static std::uint64_t seen() noexcept;
  /// Gives: the same, and counts no more.
  static std::uint64_t stop() noexcept;

  /// Every allocation fails, or none does.
  static void refuse_all(bool all) noexcept;

  /// While one of these lives, the thread's allocations are neither counted nor failed.
  class Pause {
   public:
    Pause() noexcept;
    ~Pause();
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;
  };
  /// Takes a pause off again, inside one.
  class Resume {
   public:
    Resume() noexcept;
    ~Resume();
    Resume(const Resume&) = delete;
    Resume& operator=(const Resume&) = delete;

   private:
    std::uint32_t pauses_;
  };

  // --- for those who allocate ---

  /// Gives: true when this allocation must fail.
  static bool refuse() noexcept { return active() && ask(false); }
  /// The same for memory from a cache.
  static bool refuse_cached() noexcept { return active() && ask(true); }

  /// Gives: true when operator new asks, because calm::fail_new is linked in.
  static bool sees_new() noexcept;
  static void tell_of_new() noexcept;

 private:
  // relaxed: a thread that asks for itself sees its own change; what others ask for is not its business.
  static bool active() noexcept { return active_.load(std::memory_order_relaxed) != 0; }
  static bool ask(bool cached) noexcept;

  static std::atomic<std::uint32_t> active_;  // threads that watch or refuse
};

}  // namespace calm::mem
