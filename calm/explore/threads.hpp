// threads.hpp — a program of threads that the explorer runs: each has a small stack of its own, each access is a step.
// Laws:    LAB-8
// Threads: everything happens on the calling one
// Cancel:  not applicable
//
//   Report report = explore_threads([](Threads& threads) {
//     auto& counter = threads.make<Atomic<int>>(0);
//     for (int i = 0; i < 2; ++i) threads.run([&] { counter.store(counter.load() + 1); });
//     threads.at_end([&] { threads.check(counter.load() == 2, "an update was lost"); });
//   });
//
// A step is one access and the plain code after it, up to the next access; what comes before the first access of a thread
// runs when the thread is made. The function is called anew for every execution, so what it makes through threads.make()
// or owns itself is new each time. Memory is sequentially consistent.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "calm/explore/fiber.hpp"
#include "calm/explore/footprint.hpp"
#include "calm/explore/optimal.hpp"
#include "calm/explore/program.hpp"
#include "calm/explore/report.hpp"
#include "calm/explore/spins.hpp"

namespace calm::explore {

class Threads final : public Program {
 public:
  using Setup = std::function<void(Threads&)>;

  explicit Threads(Setup setup);
  ~Threads() override;

  // --- for the program ---

  /// Makes an object that lives until the execution has ended.
  template <class T, class... Arguments>
  T& make(Arguments&&... arguments) {
    auto object = std::make_unique<Kept<T>>(std::forward<Arguments>(arguments)...);
    T& value = object->value;
    kept_.push_back(std::move(object));
    return value;
  }
  /// Adds a thread. Needs: in the setup. Gives: its number.
  Process run(std::function<void()> body, std::string name = {});
  /// Says what is called when all threads have ended, or none can go on.
  void at_end(std::function<void()> body) { at_end_ = std::move(body); }
  /// Fails the execution unless `holds`. The thread that says so does not go on.
  void check(bool holds, std::string_view problem);
  /// The program means to end with threads blocked for ever.
  void allow_deadlock() noexcept { deadlock_allowed_ = true; }
  /// A thread that repeats so many reads, of what the same writers left, is taken to wait for a change. Needs: in the setup,
  /// and at least 16. For programs that look more than 32 times before they give up.
  void be_patient(std::uint32_t reads);

  // --- for accesses ---

  /// Gives: the program whose thread, setup or end runs now; nullptr outside.
  [[nodiscard]] static Threads* current() noexcept;

  /// A number for a new location: the same in every execution for the n-th one of its thread.
  [[nodiscard]] Location new_location() noexcept;

  /// What an access says before it happens. The thread goes on when it is its turn.
  struct Access {
    StepKind kind = StepKind::fixed;
    Location location = 0;
    bool write = false;                             ///< what it would be if it went on; touch() says what it was
    bool (*can_go_on)(const void* word) = nullptr;  ///< none: always
    const void* word = nullptr;
  };
  void arrive(const Access& access) noexcept;
  /// The access that is being made touches this.
  void touch(Touch touch) {
    if (touched_ != nullptr) touched_->add(touch);
  }
  /// What people call the access that is being made. Needs: a text that lives as long as the program.
  void call(const char* word) noexcept { word_ = word; }

  // --- Program ---

  void restart() override;
  [[nodiscard]] ProcessSet enabled() override;
  StepKind step(Process process, Footprint& touched) override;
  [[nodiscard]] ProcessSet blocked() override;
  void pending(Process process, Footprint& touched) override;
  [[nodiscard]] ProcessSet spinning() override { return spins_.waiting(); }
  [[nodiscard]] bool failed() override { return !problem_.empty(); }
  [[nodiscard]] std::string problem(bool deadlock) override;
  [[nodiscard]] std::string_view last_step() override { return word_; }
  [[nodiscard]] std::string name_of(Process process) override;

 private:
  struct KeptBase {
    KeptBase() = default;
    KeptBase(const KeptBase&) = delete;
    KeptBase& operator=(const KeptBase&) = delete;
    virtual ~KeptBase() = default;
  };
  template <class T>
  struct Kept final : KeptBase {
    template <class... Arguments>
    explicit Kept(Arguments&&... arguments) : value(std::forward<Arguments>(arguments)...) {}
    T value;
  };

  struct Thread {
    Thread() = default;
    Fiber fiber;
    std::function<void()> body;
    std::string name;
    Access access{};
    std::uint32_t locations = 0;
    bool ended = true;
    Threads* owner = nullptr;
  };

  static void run_body(void* context);
  void resume(Process process) noexcept;
  [[nodiscard]] bool can_go_on(const Thread& thread) const noexcept;
  void leave_run() noexcept;
  [[nodiscard]] bool spins_for_ever(Process process);
  [[nodiscard]] std::string never_ending();
  [[nodiscard]] std::string names_of(ProcessSet set);

  Setup setup_;
  std::deque<Thread> threads_;  // those beyond count_ keep their stacks
  std::uint32_t count_ = 0;
  std::vector<std::unique_ptr<KeptBase>> kept_;
  std::function<void()> at_end_;
  Footprint* touched_ = nullptr;
  const char* word_ = "";
  Thread* running_ = nullptr;
  std::uint32_t locations_ = 0;  // of the setup
  std::uint32_t accesses_left_ = 0;
  bool leaving_ = false;  // the execution is over: accesses happen without waiting for a turn
  bool deadlock_allowed_ = false;
  Spins spins_;
  std::string problem_;
};

/// Visits every execution of a program of threads once.
/// Fails: as explore_optimal().
Report explore_threads(Threads::Setup setup, const Options& options = {});

}  // namespace calm::explore
