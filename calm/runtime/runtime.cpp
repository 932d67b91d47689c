#include "calm/runtime/runtime.hpp"

#include <mutex>
#include <shared_mutex>
#include <utility>

#include "calm/runtime/control.hpp"
#include "calm/runtime/minder.hpp"

namespace calm {

namespace {

/// The run that goes on, if there is one.
class CurrentRun final : public runtime::RunWatch {
 public:
  void began(runtime::Control& control, runtime::Minder& minder) override {
    const std::lock_guard hold(mutex_);
    control_ = &control;
    minder_ = &minder;
  }
  void ends() override {
    const std::lock_guard hold(mutex_);
    control_ = nullptr;
    minder_ = nullptr;
  }

  /// Gives: false when another thread has it.
  bool reserve() {
    const std::lock_guard hold(mutex_);
    return !std::exchange(reserved_, true);
  }
  void give_back() {
    const std::lock_guard hold(mutex_);
    reserved_ = false;
  }

  bool shut_down(Duration within) {
    const std::shared_lock hold(mutex_);
    if (minder_ != nullptr) minder_->shut_down(within);
    return minder_ != nullptr;
  }
  std::string inspect() {
    const std::shared_lock hold(mutex_);
    return control_ == nullptr ? std::string() : control_->inspect();
  }

 private:
  // Guards all; who asks a run holds it, so the run does not end meanwhile. An inspection keeps no shutdown waiting.
  std::shared_mutex mutex_;
  bool reserved_ = false;
  runtime::Control* control_ = nullptr;
  runtime::Minder* minder_ = nullptr;
};

}  // namespace

struct Runtime::Parts {
  RunOptions options;
  CurrentRun run;
};

Runtime::Runtime(RunOptions options) : parts_(std::make_unique<Parts>()) { parts_->options = options; }

Runtime::~Runtime() = default;

Outcome<void> Runtime::run(runtime::MakeRoot make, void* context) {
  if (!parts_->run.reserve()) {
    return err(Errc::busy, "a program runs on this runtime; next: wait for its end, or make another runtime");
  }
  Outcome<void> ran = runtime::run_here(parts_->options, make, context, &parts_->run);
  parts_->run.give_back();
  return ran;
}

bool Runtime::shut_down(Duration within) { return parts_->run.shut_down(within); }

bool Runtime::shut_down() { return shut_down(parts_->options.shutdown_time); }

std::string Runtime::inspect() { return parts_->run.inspect(); }

}  // namespace calm
