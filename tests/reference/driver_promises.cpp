// The operations on promises.
#include "driver.hpp"
#include "specs.hpp"

namespace calm::reference {

void Driver::reserve(const Operation& operation) {
  const RegionId region = operation.b % 4 == 0 ? a_region(operation.a) : an_open_region(operation.a);
  const kernel::ObligationSpec spec{.kind = kind_of(operation.d),
                                    .holder = a_holder(region, operation.c, operation.b, true),
                                    .resource = trace::ResourceId::registered(operation.d % 5U)};
  const auto made = kernel_->reserve(worker_, region, spec);
  same(operation.what, made.status, model_.reserve(made.id, region, spec));
  if (made) obligations_.add(obligation_ = made.id);
}

void Driver::commit(const Operation& operation) {
  const ObligationId id = an_obligation(operation.a);
  if (operation.c % 4 == 0) {
    same(operation.what, kernel_->commit_and_drop(worker_, id), model_.commit_and_drop(id));
  } else {
    same(operation.what, kernel_->commit(worker_, id), model_.commit(id));
  }
}

void Driver::abort(const Operation& operation) {
  const ObligationId id = an_obligation(operation.a);
  if (operation.c % 4 == 0) {
    same(operation.what, kernel_->abort_and_drop(worker_, id), model_.abort_and_drop(id));
  } else {
    same(operation.what, kernel_->abort(worker_, id), model_.abort(id));
  }
}

void Driver::hand_over(const Operation& operation) {
  const ObligationId id = an_obligation(operation.a);
  const ObligationRow* const row = model_.find(id);
  const RegionId region = row == nullptr ? RegionId() : row->region;
  const kernel::Holder to = a_holder(region, operation.c, operation.b, false);
  same(operation.what, kernel_->hand_over(worker_, id, to), model_.hand_over(id, to));
}

void Driver::drop_token(const Operation& operation) {
  const ObligationId id = an_obligation(operation.a);
  same(operation.what, kernel_->drop_token(worker_, id), model_.drop_token(id));
}

void Driver::count(const Operation& operation) {
  const TaskId id = a_running_task(operation.a);
  const ObligationKind kind = counted_kind_of(operation.c);
  same(operation.what, kernel_->count(worker_, id, kind), model_.count(id, kind));
}

void Driver::uncount(const Operation& operation) {
  const TaskId by = a_running_task(operation.b);
  const TaskId id = operation.d % 2 == 0 ? by : a_live_task(operation.a);
  const ObligationKind kind = counted_kind_of(operation.c);
  same(operation.what, kernel_->uncount(worker_, id, kind, by), model_.uncount(id, kind, by));
}

}  // namespace calm::reference
