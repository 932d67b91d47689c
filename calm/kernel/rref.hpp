// rref.hpp — a reference to an object in the memory of a region: good until the region is Closed, and then an error.
// Laws:    REG-10, REG-7 (region_closed)
// Threads: a value; it may go wherever its T may go. The object is used as its own type allows
// Cancel:  not applicable
#pragma once

#include "calm/kernel/kernel.hpp"
#include "calm/model/id.hpp"
#include "calm/model/outcome.hpp"

namespace calm::kernel {

template <class T>
class RRef {
 public:
  /// Needs: an object that lives in the memory of this region.
  constexpr RRef(RegionId region, T& object) noexcept : region_(region), object_(&object) {}

  [[nodiscard]] constexpr RegionId region() const noexcept { return region_; }

  /// Gives: the object. It stays good while the caller keeps the region from closing, as its tasks and finalizers do.
  /// Fails: region_closed.
  template <lockfree::AtomicsPolicy Atomics>
  [[nodiscard]] Outcome<T*> get(const BasicKernel<Atomics>& kernel) const noexcept {
    if (const Status status = kernel.check_heap(region_); !status) return err(status.error());
    return ok(object_);
  }

  friend constexpr bool operator==(const RRef&, const RRef&) noexcept = default;

 private:
  RegionId region_;
  T* object_;
};

/// Makes an object in the memory of the region; it is ended when the region is Closed, newest first, without any lock.
/// Fails: stale_handle, region_closed, admission_limit, resource_exhausted; what the constructor throws.
template <class T, lockfree::AtomicsPolicy Atomics, class... Arguments>
Outcome<RRef<T>> make_in(BasicKernel<Atomics>& kernel, Worker& worker, RegionId region, Arguments&&... arguments) {
  auto object = kernel.template make_in<T>(worker, region, std::forward<Arguments>(arguments)...);
  if (!object) return err(std::move(object).error());
  return ok(RRef<T>(region, *object.value()));
}

}  // namespace calm::kernel
