// obligation_record.hpp — a promise that is followed one by one: whose, about what, made where and when.
// Laws:    OBL-1, OBL-2, OBL-6 (creation sites), OBL-11
// Threads: every field under shard C
// Cancel:  not applicable
#pragma once

#include <cstdint>

#include "calm/kernel/config.hpp"
#include "calm/lockfree/atomics.hpp"
#include "calm/mem/slab.hpp"
#include "calm/model/obligation_state.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
struct RegionRecord;

template <lockfree::AtomicsPolicy Atomics>
struct alignas(64) ObligationRecord {
  std::uint32_t generation = 0;  // of the present life, 0 before the first
  ObligationState state = ObligationState::aborted;
  ObligationKind kind = ObligationKind::custom;
  Service service = Service::none;
  bool token = false;  // somebody may still name it: the slot stays. A slot without state Reserved and token is free
  RegionRecord<Atomics>* region = nullptr;
  TaskId task;                         // holder, or whose buffer the service uses
  ObligationRecord* before = nullptr;  // in the list of its holder task, or of its region when that is no task
  ObligationRecord* after = nullptr;   // the same; the slab's while it is free
  trace::ResourceId resource;
  Time since;
  Site site;

  using SlabType = mem::Slab<ObligationRecord, &ObligationRecord::after, Atomics>;

  [[nodiscard]] std::uint32_t index() const noexcept { return SlabType::index_of(*this); }
  [[nodiscard, gnu::always_inline]] ObligationId id() const noexcept { return {index(), Generation(generation)}; }
  [[nodiscard]] bool free() const noexcept { return state != ObligationState::reserved && !token; }
  [[nodiscard]] Holder holder() const noexcept {
    return service == Service::none ? Holder(task) : Holder(service, task);
  }
};

static_assert(sizeof(ObligationRecord<lockfree::RealAtomics>) == 64);

}  // namespace calm::kernel
