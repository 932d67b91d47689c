// kernel_make.hpp — how a kernel comes to be. Definitions for kernel.hpp; whoever needs another atomics policy than those of
//                  kernel.cpp includes this one, which includes all the others.
// Laws:    HND-3 (all that must not fail later is taken now)
// Threads: see kernel.hpp
// Cancel:  not applicable
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "calm/kernel/cancel_steps.hpp"
#include "calm/kernel/completion_steps.hpp"
#include "calm/kernel/forced_end.hpp"
#include "calm/kernel/holdings_steps.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/kernel/obligation_steps.hpp"
#include "calm/kernel/region_steps.hpp"
#include "calm/kernel/snapshot_steps.hpp"
#include "calm/kernel/task_steps.hpp"

namespace calm::kernel {

template <lockfree::AtomicsPolicy Atomics>
BasicKernel<Atomics>::BasicKernel(const Config& config, HostType& host) noexcept
    : config_(config),
      host_(host),
      regions_(config.workers, config.ceilings.regions),
      tasks_(config.workers, config.ceilings.tasks),
      obligations_(config.workers, config.ceilings.obligations) {}

template <lockfree::AtomicsPolicy Atomics>
Outcome<std::unique_ptr<BasicKernel<Atomics>>> BasicKernel<Atomics>::make(const Config& config, HostType& host,
                                                                          const LockObserver& observer) noexcept {
  if (config.workers == 0 || config.workers > workers_max || (!Atomics::shared && config.workers != 1)) {
    return err(Errc::invalid_argument, "a kernel has 1 to 1024 workers; one with LocalAtomics has one");
  }
  const Ceilings& ceilings = config.ceilings;
  if (ceilings.regions == 0 || ceilings.tasks == 0 || ceilings.obligations == 0) {
    return err(Errc::invalid_argument, "a kernel needs room for a region, a task and an obligation at least");
  }
  std::unique_ptr<BasicKernel> kernel(new (std::nothrow) BasicKernel(config, host));
  if (kernel == nullptr) return err(Errc::resource_exhausted, "no memory for a kernel");
  if (const Status status = kernel->init(observer); !status) return err(status.error(), "a kernel could not be made");
  return ok(std::move(kernel));
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::init(const LockObserver& observer) noexcept {
  if (const Status status = shards_.init(config_.workers, observer); !status) return status;
  if (!regions_.reserve() || !tasks_.reserve() || !obligations_.reserve()) return Errc::resource_exhausted;
  workers_.reset(new (std::nothrow) std::unique_ptr<Worker>[config_.workers]);
  if (workers_ == nullptr) return Errc::resource_exhausted;
  trace::SequenceSource* const sequence = config_.workers == 1 ? nullptr : &sequence_;
  for (std::uint16_t i = 0; i < config_.workers; ++i) {
    auto ring =
        trace::Ring::make({.capacity = config_.trace_capacity, .worker = i, .when_full = config_.trace_when_full});
    if (!ring) return ring.error().code();
    workers_[i].reset(new (std::nothrow) Worker(i, std::move(ring).value(), sequence));
    if (workers_[i] == nullptr) return Errc::resource_exhausted;
  }
  try {
    for (const CancelKindRow& row : cancel_kind_table) {
      for (std::uint8_t severity = row.severity; severity <= severity_max; ++severity) {
        last_resort_[static_cast<std::uint8_t>(row.kind)][severity] =
            Reason::without_story({.kind = row.kind, .severity = severity});
      }
    }
  } catch (const std::bad_alloc&) {
    return Errc::resource_exhausted;
  }
  forced_panic_ = forced_end();
  return open_root();
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::start_over() noexcept {
  CALM_REQUIRE(SHD_1, config_.workers == 1, config_.workers);
  obligations_.start_over();
  tasks_.start_over();
  regions_.start_over();
  workers_[0]->start_over();
  walking_.store(0, std::memory_order_relaxed);  // relaxed: nobody else knows the kernel
  epochs_ = {};
  advance_first_ = nullptr;
  advance_last_ = nullptr;
  cursor_ = {};
  leaks_ = 0;
  dropped_tokens_ = 0;
  return open_root();
}

template <lockfree::AtomicsPolicy Atomics>
Status BasicKernel<Atomics>::open_root() noexcept {
  Region* const root = regions_.take(0);
  if (root == nullptr) return Errc::resource_exhausted;
  root->reserve = ReasonReserve::take();
  if (!root->reserve) return Errc::resource_exhausted;
  root->generation.set(Generation::first);
  root->self = RegionId(root->index(), Generation());
  root->state.set(RegionState::open);
  root->handle = true;
  root->set_limits(config_.root_budget, config_.root_limits);
  root->cleanup_time = default_cleanup_time;
  root->gate.unlock(GateView());
  root_ = root->id();
  return {};
}

template <lockfree::AtomicsPolicy Atomics>
Worker& BasicKernel<Atomics>::worker(std::uint16_t index) noexcept {
  CALM_REQUIRE(SHD_1, index < config_.workers, index, config_.workers);
  return *workers_[index];
}

}  // namespace calm::kernel
