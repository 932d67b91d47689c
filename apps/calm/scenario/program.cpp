#include "apps/calm/scenario/program.hpp"

#include <utility>

#include "apps/calm/scenario/world.hpp"
#include "calm/cx/wait_outcome.hpp"

namespace calm::scenario {
namespace {

/// For the next order. It has no context, so no cancel ends it.
class OrderWait : public cx::Wait {
 public:
  explicit OrderWait(const Program* program) noexcept : Wait(nullptr), program_(program) {}
  cx::WaitState step(cx::TaskRoot& /*root*/, ChildEnd& /*end*/) noexcept override {
    return program_->has_order() ? cx::WaitState::ready : cx::WaitState::pending;
  }
  static void result() noexcept {}

 protected:
  ~OrderWait() = default;

 private:
  const Program* program_;
};

}  // namespace

Task<void> Program::obey(Cx cx, Program& program) {
  while (true) {
    co_await cx::WaitFor<OrderWait, const Program*>(&program);
    if (program.dismissed_) co_return;
    Outcome<Answer> end = co_await outcome(program.deed_(cx, program.world_, *program.step_));
    program.keep(std::move(end));
  }
}

void Program::keep(Outcome<Answer> end) {
  step_ = nullptr;
  switch (end.kind()) {
    case OutcomeKind::ok:
      answer_ = std::move(end).value();
      return;
    case OutcomeKind::err:
      answer_ = {end.error().code(), {}};
      return;
    case OutcomeKind::cancelled:
      answer_ = {Errc::cancelled, {}};
      return;
    case OutcomeKind::panicked:
      fault_ = end.panic().what();
      return;
  }
}

Status Program::spawn(RegionId region, const Budget& budget) {
  auto* const shell = new cx::Shell<void>(world_.port());  // the kernel's from spawn() on; let_go() ends it
  shell->begin(obey(Cx(shell->context()), *this));
  const auto made = world_.kernel().spawn(world_.worker(), region, {.budget = budget, .frame = shell});
  if (made) {
    task_ = made.id;
  } else {
    shell->drop(world_.worker(), {});
    shell->let_go();
  }
  return made.status;
}

void Program::drop() {
  cx::TaskRoot* const root = world_.port().find(task_);
  if (root == nullptr) return;
  root->drop(world_.worker(), task_);
  root->let_go();
}

}  // namespace calm::scenario
