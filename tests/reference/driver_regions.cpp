// The operations on regions.
#include "calm/mem/arena.hpp"
#include "driver.hpp"
#include "specs.hpp"

namespace calm::reference {
namespace {

/// An object for a region's heap.
template <std::size_t size>
struct Block {
  std::byte bytes[size];
};

template <std::size_t size>
constexpr std::uint64_t heap_cost() {
  using Layout = kernel::RegionHeap::Layout<Block<size>>;
  return mem::Arena::cost(Layout::bytes, Layout::align);
}

}  // namespace

void Driver::create_region(const Operation& operation) {
  const RegionId parent = an_open_region(operation.a);
  kernel::RegionSpec spec = region_spec(operation.c, operation.d, now_);
  if (parent == kernel_->root() && operation.b % 8 != 1) spec.reports_to = kernel::ReportsTo::owner;
  if (operation.b % 2 == 0) spec.owner = a_task_near(parent, operation.b / 2);
  if (unwinding(spec.owner)) spec.owner = {};
  const auto made = kernel_->create_region(worker_, parent, spec);
  same(operation.what, made.status, model_.create_region(made.id, parent, spec));
  if (made) regions_.add(made.id);
}

void Driver::close(const Operation& operation) {
  const RegionId id = a_region_to_close(operation);
  same(operation.what, kernel_->close(worker_, id), model_.close(id));
}

void Driver::cancel(const Operation& operation) {
  const RegionId id = a_region_to_close(operation);
  kernel::CancelSpec spec = cancel_spec(operation.c, operation.d);
  if (operation.d / 64 % 4 == 0) spec.task = a_live_task(operation.b);
  same(operation.what, kernel_->cancel(worker_, id, spec), model_.cancel(id, spec));
}

void Driver::end_body(const Operation& operation) {
  region_ = regions_.pick(operation.a, [&](RegionId id) {
    const RegionRow* const row = model_.find(id);
    return row != nullptr && (row->body || operation.b % 8 == 0) && !unwinding(row->spec.owner);
  });
  const RegionRow* const row = model_.find(region_);
  if (row != nullptr && unwinding(row->spec.owner)) return;
  const ChildOrigin origin{region_, row == nullptr ? TaskId() : row->spec.owner};
  const ChildEnd end = end_of(operation.c, operation.d, kernel_->reason_of(worker_, region_), origin, now_);
  same(operation.what, kernel_->end_body(worker_, region_, end), model_.end_body(region_, end));
}

void Driver::advance(const Operation& operation) {
  const RegionId id = a_region(operation.a);
  same(operation.what, kernel_->advance(worker_, id), model_.advance(id));
}

void Driver::defer(const Operation& operation) {
  const RegionId id = an_open_region(operation.a);
  const auto made = kernel_->defer(worker_, id, nullptr);
  same(operation.what, made.status, model_.defer(made.id, id));
  if (made) tasks_.add(task_ = made.id);
}

void Driver::await_close(const Operation& operation) {
  const RegionId id = a_region(operation.a);
  const TaskId waiter = a_live_task(operation.b);
  same(operation.what, kernel_->await_close(worker_, id, waiter), model_.await_close(id, waiter));
}

void Driver::forget_close(const Operation& operation) {
  const RegionId id = a_region(operation.a);
  const RegionRow* const row = model_.find(id);
  const TaskId waiter = row == nullptr || operation.c % 4 == 0 ? a_live_task(operation.b) : row->waiter;
  kernel_->forget_close(worker_, id, waiter);
  model_.forget_close(id, waiter);
  same(operation.what, {}, {});
}

void Driver::use_heap(const Operation& operation) {
  const RegionId id = a_region(operation.a);
  const auto status = [](const auto& made) { return made ? Status() : Status(made.error().code()); };
  if (operation.c % 2 == 0) {
    same(operation.what, status(kernel_->make_in<Block<8>>(worker_, id)), model_.use_heap(id, heap_cost<8>()));
  } else {
    same(operation.what, status(kernel_->make_in<Block<50>>(worker_, id)), model_.use_heap(id, heap_cost<50>()));
  }
}

void Driver::release_region(const Operation& operation) {
  const RegionId id = a_region_to_close(operation);
  same(operation.what, kernel_->release(worker_, id), model_.release(id));
}

}  // namespace calm::reference
