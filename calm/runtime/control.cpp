#include "calm/runtime/control.hpp"

#include <memory>
#include <utility>

#include "calm/runtime/bell.hpp"
#include "calm/runtime/monotonic.hpp"

namespace calm::runtime {

/// Shared by who asks and the worker that answers. Who asks may leave: a poll that ends at last finds the question as it was.
class Question final : public mem::RefCounted, public cx::Errand {
 public:
  using Answer = std::function<std::string(Engine&, kernel::Worker&)>;

  /// An order is done even when nobody waits for it; an answer is not given then.
  Question(Engine& engine, Answer answer, bool is_order)
      : engine_(engine), answer_(std::move(answer)), is_order_(is_order) {}
  static void destroy(const Question* question) noexcept { delete question; }

  void run(kernel::Worker* worker) noexcept override {
    const mem::Ref<Question> mine = mem::Ref<Question>::adopt(this);
    if (worker != nullptr && (is_order_ || !unique())) text_ = answer_(engine_, *worker);
    bell_.ring();
  }

  [[nodiscard]] bool wait_for(Duration duration) const noexcept { return bell_.wait_for(duration); }
  /// Needs: wait_for() said true.
  [[nodiscard]] std::string take() noexcept { return std::move(text_); }

 private:
  Engine& engine_;  // a gateway that takes a question has its engine
  Answer answer_;
  std::string text_;
  bool is_order_;
  Bell bell_;
};

void Control::attach(Engine& engine, bool may_be_asked) {
  const std::lock_guard hold(mutex_);
  engine_ = &engine;
  if (may_be_asked) caller_ = engine.gateway();
  polls_ = StallWatch(engine.poll_watches(), {});
}

void Control::detach() {
  const std::lock_guard hold(mutex_);
  engine_ = nullptr;
  caller_ = {};
  polls_ = StallWatch({}, {});
}

mem::Ref<Question> Control::hand_in(Answer answer, bool is_order) {
  mem::Ref<cx::Gateway> gateway;
  std::unique_ptr<Question> question;
  {
    const std::lock_guard hold(mutex_);
    if (engine_ == nullptr) return {};
    gateway = engine_->gateway();
    question = std::make_unique<Question>(*engine_, std::move(answer), is_order);
    polls_.see(monotonic_now());
  }
  question->retain();  // for the worker: run() takes that over
  if (!gateway->hand_in(*question)) return {};
  return mem::Ref<Question>::adopt(question.release());
}

std::string Control::who_is_stuck(bool waits_no_more) {
  const std::lock_guard hold(mutex_);
  polls_.see(monotonic_now());
  if (!polls_.all_last(patience) && !waits_no_more) return {};
  std::string who = polls_.who_lasts(patience, "\n  who:  ");
  if (who.empty()) who = "\n  who:  nobody is in one poll for so long";
  return "calm: no worker answers" + who + "\n  law:  QUI-3, GHO-3\n  next: " + std::string(stall_advice);
}

std::string Control::ask(Answer answer) {
  Bell::require_no_worker();
  const mem::Ref<Question> asked = hand_in(std::move(answer), false);
  if (!asked) return {};
  // A worker that is not in a poll, or in a short one, will answer: a busy machine may take its time for that.
  constexpr Duration longest = Duration::seconds(30);
  const Time until = monotonic_now() + longest;
  for (;;) {
    if (asked->wait_for(Duration::nanoseconds(patience.ns() / 4))) return asked->take();
    if (std::string stuck = who_is_stuck(monotonic_now() >= until); !stuck.empty()) return stuck;
  }
}

bool Control::shut_down() {
  const auto cancel_root = [](Engine& engine, kernel::Worker& worker) {
    engine.shut_down(worker);
    return std::string();
  };
  return bool(hand_in(cancel_root, true));
}

std::string Control::inspect() {
  return ask([](Engine& engine, kernel::Worker& worker) { return engine.inspect(worker); });
}

std::string Control::stragglers() {
  return ask([](Engine& engine, kernel::Worker& worker) { return engine.stragglers(worker); });
}

}  // namespace calm::runtime
