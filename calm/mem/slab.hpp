// slab.hpp — type-stable memory for kernel records: found by index, never freed before the slab, taken without a lock.
// Laws:    HND-1 (32-bit indexes), HND-3 (a stated bound; a refusal changes nothing)
// Threads: take() by the thread that is the worker; give_back() by any worker, each under its own number; find(),
//          for_each(), made(), index_of() and home_of() anywhere; reserve() and the destructor alone
// Cancel:  not applicable
//
// Memory comes in chunks of 32 KiB, aligned to their size, each owned by the worker that made it: its home. The first
// slot of a chunk describes it, so index and home of a record follow from its address and the record stores neither.
// Index = number of the chunk * slots_per_chunk + slot; the indexes of the describing slots are never handed out.
// A worker takes the memory of 1, 2, 4, 8 and then 16 chunks at a time, a run, and touches a chunk when it makes it: an
// allocator leaves a gap behind every piece that is aligned to its size, single chunks cost a quarter more memory.
// What is rarely needed of a record may lie aside: a second row of memory, slot by slot, which nobody touches before a record uses its
// own. It begins as zeros, and as long as it is never written the system has not given it.
// A record is an object from the making of its chunk until the end of the slab. Whoever finds one by an old index reads
// valid memory and learns from the record's generation that it is another's now. Records do not change homes: at the
// ceiling a worker may be refused while another one has free records.
//
// Words:
//   claimed_     bits 0..31 records made, bits 32..63 chunks claimed. One compare-exchange takes a place under the
//                ceiling and, for a new chunk, its number: neither is ever taken on trial and given back.
//                relaxed: it hands out numbers and publishes nothing.
//   directory_   a word per chunk, written once.
//                [D1] grow() releases the chunk and its records -> find() and for_each() acquire.
//   Chunk::made  slots handed out so far, written by the home worker.
//                relaxed: the records were published with the chunk; a stale count leaves out records made meanwhile.
//   returned     records given back by others, pairs [S1] of take_all_stack.hpp: what was done to a record before
//                give_back() happens before the home worker's take() gives it out again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <new>
#include <type_traits>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/lockfree/take_all_stack.hpp"
#include "calm/mem/allocation_points.hpp"
#include "calm/mem/zero_pages.hpp"

namespace calm::mem {

/// Nothing lies aside.
struct NoAside {};

/// Record offers a plain member `Record* Record::*free_link`, which is the slab's while the record is not taken. An Aside is the same as
/// new when all of it is zeros.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics = lockfree::RealAtomics,
          class Aside = NoAside>
class Slab {
 public:
  static constexpr std::size_t chunk_bytes = std::size_t{32} * 1024;
  static constexpr std::uint32_t slots_per_chunk = chunk_bytes / sizeof(Record);
  static constexpr bool has_aside = !std::is_same_v<Aside, NoAside>;

  /// Needs: at least one worker, with LocalAtomics no more; a ceiling whose indexes fit 32 bits, chunks begun by every worker included.
  /// Gives: a slab without memory: nothing can be taken or found before reserve().
  Slab(std::uint32_t workers, std::uint32_t records_max) noexcept;
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  /// Ends every record, taken or not.
  ~Slab();

  /// Takes the directory and the caches of the workers: all memory but the chunks. Once done it does nothing.
  /// Gives: false without memory; then nothing has changed.
  [[nodiscard]] bool reserve() noexcept;

  /// Every record is as on its first day, and indexes are handed out from the first one on again. The memory of a single
  /// chunk is kept; where there were more, all are freed. Needs: a reserved slab of one worker; nobody uses a record.
  void start_over() noexcept;

  /// Needs: a reserved slab; the calling thread is `worker`.
  /// Gives: a record of this worker, as its last holder left it or default-constructed: the newest of those it gave back,
  ///        else the newest of those the others gave back, else one more, by ascending index within its chunk. It is
  ///        the caller's until give_back(); one that is never given back is retired.
  /// Fails: nullptr when records_max records were made, or without memory; then nothing has changed.
  [[nodiscard]] Record* take(std::uint32_t worker) noexcept {
    CALM_SLOW(HND_1, caches_ != nullptr && worker < workers_, worker, workers_);
    Cache& cache = cache_of(worker);
    Record* const record = cache.free;
    if (record == nullptr) [[unlikely]]
      return take_other(worker);
    cache.free = record->*free_link;
    mark(*record, Mark::held);
    return record;
  }

  /// Needs: a record taken from this slab, which the caller does not touch any more; the calling thread is `worker`.
  void give_back(std::uint32_t worker, Record& record) noexcept {
    CALM_SLOW(HND_1, worker < workers_, worker, workers_);
    mark(record, Mark::free);
    if (Atomics::shared && home_of(record) != worker) [[unlikely]] {
      give_home(record);
      return;
    }
    Cache& cache = cache_of(worker);
    record.*free_link = cache.free;
    cache.free = &record;
  }

  /// Gives: the record with this index; nullptr for one that is never handed out, and while its chunk is not made. The record may be free, or not yet have been taken at all: its content says so.
  [[nodiscard]] Record* find(std::uint32_t index) const noexcept {
    const std::size_t number = index / slots_per_chunk;
    const std::size_t slot = index % slots_per_chunk;
    if (number >= directory_size_ || slot < first_slot_) return nullptr;
    Chunk* const chunk = directory_[number].load(std::memory_order_acquire);  // [D1]
    return chunk == nullptr ? nullptr : record_at(*chunk, slot);
  }

  /// Needs: the index of a record that was taken once. Gives: that record.
  [[nodiscard]] Record& at(std::uint32_t index) const noexcept {
    CALM_SLOW(HND_1, find(index) != nullptr, index);
    return *record_at(*directory_[index / slots_per_chunk].load(std::memory_order_acquire),  // [D1]
                      index % slots_per_chunk);
  }

  /// Needs: a record of a slab of this type.
  [[nodiscard]] static std::uint32_t index_of(const Record& record) noexcept {
    return chunk_of(record).first_index + slot_of(record);
  }
  [[nodiscard]] static std::uint32_t home_of(const Record& record) noexcept { return chunk_of(record).home; }
  /// Gives: what lies aside of it. Who holds the record holds that too.
  [[nodiscard]] static Aside& aside_of(const Record& record) noexcept
    requires has_aside
  {
    return chunk_of(record).asides[slot_of(record)];
  }

  /// Visits every record that was ever taken, by ascending index; free ones too, slots never handed out not. It may run
  /// while others take: a record whose first take() happens before the call is visited, one taken meanwhile may be.
  /// Needs: `visit(Record&)` reads only what may be read of a record in another's hands.
  template <class Visit>
  void for_each(Visit&& visit) const;

  /// Gives: how many records were ever made; a number that was true a moment ago.
  [[nodiscard]] std::uint32_t made() const noexcept { return records_in(claimed_.load(std::memory_order_relaxed)); }
  [[nodiscard]] std::uint32_t records_max() const noexcept { return records_max_; }
  [[nodiscard]] std::uint32_t workers() const noexcept { return workers_; }
  /// Gives: the words that lead to the chunks, by number, for a debugger. Needs: a reserved slab; it stays where it is.
  [[nodiscard]] const void* directory() const noexcept { return directory_; }
  /// Gives: where a chunk, which begins at a multiple of chunk_bytes, has the index of its first slot; for a debugger.
  static constexpr std::size_t first_index_offset() noexcept { return offsetof(Chunk, first_index); }
  /// The same for the address of what lies aside of its slots.
  static constexpr std::size_t asides_offset() noexcept { return offsetof(Chunk, asides); }

 private:
  template <class T>
  using Atomic = typename Atomics::template Atomic<T>;

  enum class Mark : std::uint8_t { free = 0, held = 1 };

  /// What the first slot of a chunk holds.
  struct Chunk {
    const Slab* slab;
    std::uint32_t home;
    std::uint32_t first_index = 0;
    Atomic<std::uint32_t> made{0};
    std::uint32_t run_chunks;  // of the run that begins with it, to free that by; else 0
    Mark* marks = nullptr;     // of its slots, where slow checks are on
    Aside* asides = nullptr;   // of its slots; those of a run are one piece
  };

  /// What belongs to a worker. The upper part is its own; others write to `returned` only, on a line of its own.
  struct alignas(128) Cache {
    Record* free = nullptr;
    Chunk* chunk = nullptr;                // where the next record comes from when none is free
    std::uint32_t next = slots_per_chunk;  // its slot there
    std::uint32_t run_chunks = 0;          // of the newest run, 0 when there is none
    std::uint32_t spare_chunks = 0;        // of them not made yet
    std::byte* spare = nullptr;            // the first of those
    Aside* spare_asides = nullptr;         // and what lies aside of it
    alignas(128) lockfree::TakeAllStack<Record, free_link, Atomics> returned;
  };

  static constexpr std::uint32_t first_slot_ = (sizeof(Chunk) + sizeof(Record) - 1) / sizeof(Record);
  static constexpr std::uint32_t records_per_chunk_ = slots_per_chunk - first_slot_;
  static constexpr std::uint32_t run_chunks_max_ = 16;
  static constexpr std::uint64_t one_record_ = 1;
  static constexpr std::uint64_t one_chunk_ = std::uint64_t{1} << 32U;

  static_assert(std::has_single_bit(sizeof(Record)) && sizeof(Record) >= 64 && sizeof(Record) <= 1024,
                "a record's size is a power of two from 64 to 1024 bytes: slots divide a chunk evenly");
  static_assert(std::is_nothrow_default_constructible_v<Record> && std::is_nothrow_destructible_v<Record>,
                "a record is made and ended without exceptions");
  static_assert(std::is_trivially_destructible_v<Chunk> && std::is_trivially_destructible_v<Cache> &&
                    std::is_trivially_destructible_v<Atomic<Chunk*>>,
                "the slab frees them without ending them");

  // Slow checks keep a byte per slot behind the run, so that indexes are the same in every build. It is written by
  // whoever holds the record, and goes along with it from hand to hand.
#if defined(CALM_SLOW_CHECKS) && CALM_SLOW_CHECKS
  static constexpr std::size_t marks_per_chunk_ = slots_per_chunk;
  void mark(const Record& record, Mark now) const noexcept {
    Chunk& chunk = chunk_of(record);
    CALM_SLOW(HND_1, chunk.slab == this, index_of(record));
    Mark& was = chunk.marks[slot_of(record)];
    CALM_SLOW(HND_1, was != now, now, index_of(record));  // given back twice, or handed out twice
    was = now;
  }
#else
  static constexpr std::size_t marks_per_chunk_ = 0;
  static void mark(const Record& /*record*/, Mark /*now*/) noexcept {}
#endif

  static std::uint32_t records_in(std::uint64_t claimed) noexcept { return static_cast<std::uint32_t>(claimed); }
  static std::uint32_t chunks_in(std::uint64_t claimed) noexcept { return static_cast<std::uint32_t>(claimed >> 32U); }

  static std::size_t offset_of(const Record& record) noexcept {
    return reinterpret_cast<std::uintptr_t>(&record) % chunk_bytes;
  }
  static std::uint32_t slot_of(const Record& record) noexcept {
    return static_cast<std::uint32_t>(offset_of(record) / sizeof(Record));
  }
  static Chunk& chunk_of(const Record& record) noexcept {
    auto* const at = reinterpret_cast<std::byte*>(const_cast<Record*>(&record));
    return *reinterpret_cast<Chunk*>(at - offset_of(record));
  }
  static Record* record_at(Chunk& chunk, std::size_t slot) noexcept {
    return reinterpret_cast<Record*>(reinterpret_cast<std::byte*>(&chunk) + slot * sizeof(Record));
  }

  /// Gives: how many chunks there can be. Each has a record at least, and all but the newest of a worker are full.
  static std::uint64_t chunks_max(std::uint32_t workers, std::uint32_t records_max) noexcept {
    return std::min<std::uint64_t>(records_max, std::uint64_t{records_max} / records_per_chunk_ + workers);
  }

  /// Words without atomics belong to one thread, so it is the only worker.
  [[nodiscard]] Cache& cache_of(std::uint32_t worker) const noexcept { return caches_[Atomics::shared ? worker : 0]; }
  [[gnu::noinline]] Record* take_other(std::uint32_t worker) noexcept;
  [[gnu::noinline]] void give_home(Record& record) noexcept { caches_[home_of(record)].returned.push(record); }
  bool grow(std::uint32_t worker) noexcept;
  bool claim(std::uint64_t what, std::uint64_t& before) noexcept;
  static bool add_run(Cache& cache) noexcept;
  Chunk* make_chunk(std::uint32_t home) noexcept;
  void free_chunks() noexcept;
  static void end_records(Chunk& chunk) noexcept;
  static constexpr std::size_t aside_bytes(std::uint32_t chunks) noexcept {
    return std::size_t{chunks} * slots_per_chunk * sizeof(Aside);
  }
  static void free_run(void* run, Aside* asides, std::uint32_t chunks) noexcept {
    if (asides != nullptr) give_back_zero_pages(asides, aside_bytes(chunks));
    ::operator delete[](run, std::align_val_t(chunk_bytes));
  }
  static Atomic<Chunk*>* make_directory(std::size_t size) noexcept;

  Cache* caches_ = nullptr;
  Atomic<Chunk*>* directory_ = nullptr;
  std::uint32_t directory_size_ = 0;  // 0 until reserve()
  const std::uint32_t workers_;
  const std::uint32_t records_max_;
  alignas(128) Atomic<std::uint64_t> claimed_{0};
};

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
Slab<Record, free_link, Atomics, Aside>::Slab(std::uint32_t workers, std::uint32_t records_max) noexcept
    : workers_(workers), records_max_(records_max) {
  CALM_REQUIRE(HND_1, workers == 1 || (workers > 1 && Atomics::shared), workers);
  CALM_REQUIRE(HND_1, chunks_max(workers, records_max) <= std::numeric_limits<std::uint32_t>::max() / slots_per_chunk,
               workers, records_max, slots_per_chunk);
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
Slab<Record, free_link, Atomics, Aside>::~Slab() {
  free_chunks();
  std::free(directory_);
  delete[] caches_;
}

/// relaxed: who ends the slab, or starts it over, is alone with it. From the last to the first: the chunk that begins a run,
/// which all the others lie in, has the lowest number of them.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
void Slab<Record, free_link, Atomics, Aside>::free_chunks() noexcept {
  for (std::uint32_t i = chunks_in(claimed_.load(std::memory_order_relaxed)); i-- > 0;) {
    Chunk* const chunk = directory_[i].load(std::memory_order_relaxed);
    end_records(*chunk);
    if (chunk->run_chunks != 0) free_run(chunk, chunk->asides, chunk->run_chunks);
  }
  for (std::uint32_t i = 0; caches_ != nullptr && i < workers_; ++i) {
    const Cache& cache = caches_[i];
    const bool unused = cache.spare_chunks == cache.run_chunks;
    if (unused) free_run(cache.spare, cache.spare_asides, cache.run_chunks);  // no chunk of it was made
  }
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
void Slab<Record, free_link, Atomics, Aside>::start_over() noexcept {
  CALM_REQUIRE(HND_1, caches_ != nullptr && workers_ == 1, workers_);
  const std::uint32_t chunks = chunks_in(claimed_.load(std::memory_order_relaxed));  // relaxed: as free_chunks()
  Cache& cache = caches_[0];
  if (chunks > 1) {
    CALM_PROBE("slab: started over with more than one chunk");
    free_chunks();
    for (std::uint32_t i = 0; i < chunks; ++i) directory_[i].store(nullptr, std::memory_order_relaxed);
    new (&cache) Cache();
    claimed_.store(0, std::memory_order_relaxed);
  } else if (chunks == 1) {
    Chunk& chunk = *cache.chunk;
    const std::uint32_t end = first_slot_ + chunk.made.load(std::memory_order_relaxed);
    for (std::uint32_t slot = first_slot_; slot < end; ++slot) {
      record_at(chunk, slot)->~Record();
      new (record_at(chunk, slot)) Record();
      if constexpr (has_aside) {
        chunk.asides[slot].~Aside();
        new (&chunk.asides[slot]) Aside();
      }
    }
    std::fill_n(chunk.marks, marks_per_chunk_, Mark::free);
    chunk.made.store(0, std::memory_order_relaxed);
    cache.free = nullptr;
    cache.next = first_slot_;
    claimed_.store(one_chunk_, std::memory_order_relaxed);
  }
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
bool Slab<Record, free_link, Atomics, Aside>::reserve() noexcept {
  if (caches_ != nullptr) return true;
  const auto size = static_cast<std::uint32_t>(chunks_max(workers_, records_max_));
  Cache* const caches = new (std::nothrow) Cache[workers_];
  Atomic<Chunk*>* const directory = caches == nullptr ? nullptr : make_directory(size);
  if (directory == nullptr) {
    CALM_PROBE("slab: no memory for the directory or the caches");
    delete[] caches;
    return false;
  }
  caches_ = caches;
  directory_ = directory;
  directory_size_ = size;
  return true;
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
template <class Visit>
void Slab<Record, free_link, Atomics, Aside>::for_each(Visit&& visit) const {
  const std::uint32_t chunks = chunks_in(claimed_.load(std::memory_order_relaxed));
  for (std::uint32_t i = 0; i < chunks; ++i) {
    Chunk* const chunk = directory_[i].load(std::memory_order_acquire);  // [D1]
    if (chunk == nullptr) continue;                                      // claimed, and not published yet
    const std::uint32_t end = first_slot_ + chunk->made.load(std::memory_order_relaxed);
    for (std::uint32_t slot = first_slot_; slot < end; ++slot) visit(*record_at(*chunk, slot));
  }
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
Record* Slab<Record, free_link, Atomics, Aside>::take_other(std::uint32_t worker) noexcept {
  if (AllocationPoints::refuse_cached()) return nullptr;
  Cache& cache = caches_[worker];
  Record* record = nullptr;
  if (!cache.returned.empty()) {
    record = cache.returned.take_all();  // no other takes from it: still not empty
    cache.free = record->*free_link;
  } else {
    std::uint64_t before = 0;
    if (cache.next == slots_per_chunk ? !grow(worker) : !claim(one_record_, before)) return nullptr;
    record = record_at(*cache.chunk, cache.next++);
    cache.chunk->made.store(cache.next - first_slot_, std::memory_order_relaxed);
  }
  mark(*record, Mark::held);
  return record;
}

/// Gives: a chunk for the worker, one record of it claimed; or false, and nothing has changed.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
bool Slab<Record, free_link, Atomics, Aside>::grow(std::uint32_t worker) noexcept {
  if (made() >= records_max_) return false;  // spares the making of a chunk; claim() decides
  Chunk* const chunk = make_chunk(worker);
  if (chunk == nullptr) {
    CALM_PROBE("slab: no memory for a chunk");
    return false;
  }
  std::uint64_t before = 0;
  if (!claim(one_chunk_ + one_record_, before)) {
    CALM_PROBE("slab: another worker made the last record meanwhile");
    end_records(*chunk);  // its memory is the spare one again
    return false;
  }
  const std::uint32_t number = chunks_in(before);
  CALM_INVARIANT(HND_1, number < directory_size_, number, directory_size_);
  chunk->first_index = number * slots_per_chunk;
  directory_[number].store(chunk, std::memory_order_release);  // [D1]
  Cache& cache = caches_[worker];
  cache.chunk = chunk;
  cache.next = first_slot_;
  cache.spare += chunk_bytes;
  if constexpr (has_aside) cache.spare_asides += slots_per_chunk;
  --cache.spare_chunks;
  return true;
}

/// Gives: true, with what was claimed before; or false at the ceiling, and nothing has changed.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
bool Slab<Record, free_link, Atomics, Aside>::claim(std::uint64_t what, std::uint64_t& before) noexcept {
  before = claimed_.load(std::memory_order_relaxed);
  do {
    if (records_in(before) >= records_max_) return false;
  } while (
      !claimed_.compare_exchange_weak(before, before + what, std::memory_order_relaxed, std::memory_order_relaxed));
  return true;
}

/// Gives: memory for twice as many chunks as last time; or false, and nothing has changed.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
bool Slab<Record, free_link, Atomics, Aside>::add_run(Cache& cache) noexcept {
  const std::uint32_t chunks = std::clamp<std::uint32_t>(cache.run_chunks * 2, 1, run_chunks_max_);
  void* const run =
      ::operator new[](chunks*(chunk_bytes + marks_per_chunk_), std::align_val_t(chunk_bytes), std::nothrow);
  if (run == nullptr) return false;
  if constexpr (has_aside) {
    void* const asides = take_zero_pages(aside_bytes(chunks));
    if (asides == nullptr) {
      CALM_PROBE("slab: no memory for what lies aside");
      free_run(run, nullptr, 0);
      return false;
    }
    cache.spare_asides = static_cast<Aside*>(asides);
  }
  cache.run_chunks = cache.spare_chunks = chunks;
  cache.spare = static_cast<std::byte*>(run);
  return true;
}

/// Gives: the worker's first spare chunk with all its records, still spare; nullptr without memory.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
auto Slab<Record, free_link, Atomics, Aside>::make_chunk(std::uint32_t home) noexcept -> Chunk* {
  Cache& cache = caches_[home];
  if (cache.spare_chunks == 0 && !add_run(cache)) return nullptr;
  const bool begins_run = cache.spare_chunks == cache.run_chunks;
  auto* const chunk =
      new (cache.spare) Chunk{.slab = this, .home = home, .run_chunks = begins_run ? cache.run_chunks : 0};
  for (std::uint32_t slot = first_slot_; slot < slots_per_chunk; ++slot) new (record_at(*chunk, slot)) Record();
  std::byte* const run_end = cache.spare + cache.spare_chunks * chunk_bytes;
  chunk->asides = cache.spare_asides;
  chunk->marks = reinterpret_cast<Mark*>(run_end + (cache.spare_chunks - 1) * marks_per_chunk_);
  std::fill_n(chunk->marks, marks_per_chunk_, Mark::free);
  return chunk;
}

template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
void Slab<Record, free_link, Atomics, Aside>::end_records(Chunk& chunk) noexcept {
  for (std::uint32_t slot = first_slot_; slot < slots_per_chunk; ++slot) record_at(chunk, slot)->~Record();
  if constexpr (has_aside) {  // of a slot that was never handed out it is still zeros
    const std::uint32_t end = first_slot_ + chunk.made.load(std::memory_order_relaxed);
    for (std::uint32_t slot = first_slot_; slot < end; ++slot) chunk.asides[slot].~Aside();
  }
}

/// Gives: `size` words that hold nullptr, nullptr without memory. Pages no one wrote to cost nothing, so the directory of
///        a high ceiling is free until it is used.
template <class Record, Record* Record::* free_link, lockfree::AtomicsPolicy Atomics, class Aside>
auto Slab<Record, free_link, Atomics, Aside>::make_directory(std::size_t size) noexcept -> Atomic<Chunk*>* {
  void* const zeros = std::calloc(size + 1, sizeof(Atomic<Chunk*>));  // never 0 bytes
  auto* const words = static_cast<Atomic<Chunk*>*>(zeros);
  // A word as large as its pointer is nothing but the pointer, and zeros are nullptr. Others are made one by one.
  if constexpr (sizeof(Atomic<Chunk*>) != sizeof(Chunk*)) {
    for (std::size_t i = 0; words != nullptr && i < size; ++i) new (words + i) Atomic<Chunk*>(nullptr);
  }
  return words;
}

}  // namespace calm::mem
