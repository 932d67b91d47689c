#include "calm/runtime/control.hpp"

#include <utility>

#include "calm/runtime/bell.hpp"

namespace calm::runtime {
namespace {

/// It lives in the frame of the thread that waits for it.
class Question final : public cx::Errand {
 public:
  Question(Engine& engine, const std::function<void(Engine&, kernel::Worker&)>& what) noexcept
      : engine_(engine), what_(what) {}

  void run(kernel::Worker* worker) noexcept override {
    if (worker != nullptr) {
      what_(engine_, *worker);
      answered_ = true;
    }
    bell_.ring();
  }
  [[nodiscard]] bool wait() const noexcept {
    bell_.wait();
    return answered_;
  }

 private:
  Engine& engine_;
  const std::function<void(Engine&, kernel::Worker&)>& what_;
  bool answered_ = false;
  Bell bell_;
};

}  // namespace

void Control::attach(Engine& engine) {
  const std::lock_guard hold(mutex_);
  engine_ = &engine;
  gateway_ = engine.gateway();
}

void Control::detach() {
  const std::lock_guard hold(mutex_);
  engine_ = nullptr;
  gateway_ = {};
}

bool Control::ask(const std::function<void(Engine&, kernel::Worker&)>& question) {
  Bell::require_no_worker();
  mem::Ref<cx::Gateway> gateway;
  Engine* engine = nullptr;
  {
    const std::lock_guard hold(mutex_);
    gateway = gateway_;
    engine = engine_;
  }
  if (engine == nullptr) return false;
  Question asked(*engine, question);  // a gateway that takes it has its engine
  return gateway->hand_in(asked) && asked.wait();
}

bool Control::shut_down() {
  return ask([](Engine& engine, kernel::Worker& worker) { engine.shut_down(worker); });
}

std::string Control::inspect() {
  std::string text;
  (void)ask([&text](Engine& engine, kernel::Worker& worker) { text = engine.inspect(worker); });
  return text;
}

std::string Control::stragglers() {
  std::string text;
  (void)ask([&text](Engine& engine, kernel::Worker& worker) { text = engine.stragglers(worker); });
  return text;
}

}  // namespace calm::runtime
