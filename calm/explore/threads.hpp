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
// or owns itself is new each time. What is shared and no Atomic is not seen: keep it to what one thread touches at a time,
// or make it a Plain, which finds out when two do. The machine says how memory behaves.
#pragma once

#include <cstdint>
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
#include "calm/explore/stores.hpp"

namespace calm::explore {

class Word;

enum class MemoryModel : std::uint8_t {
  sequential,       ///< a load reads the newest store, whatever its memory order
  release_acquire,  ///< a load reads any store that its thread has no reason to know is old (stores.hpp)
};

/// What the threads run on.
struct Machine {
  MemoryModel memory = MemoryModel::sequential;
  std::uint32_t spurious_failures = 0;  ///< so often each thread's compare_exchange_weak may fail for no reason
};

class Threads final : public Program {
 public:
  using Setup = std::function<void(Threads&)>;

  explicit Threads(Setup setup, const Machine& machine = {});
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
    Way (*ways)(Threads& threads, Process process, const void* word) = nullptr;  ///< none: one
  };
  void arrive(const Access& access) noexcept {
    if (running_ == nullptr) return;
    running_->access = access;  // here, where it is made: a copy in one piece would have to wait for the pieces
    await_turn();
  }
  /// Gives: the way that was chosen for the access that is being made.
  [[nodiscard]] Way way() const noexcept { return running_ == nullptr ? Way{0} : running_->way; }
  /// The access that is being made touches this.
  void touch(Touch touch) {
    if (touched_ != nullptr) touched_->add(touch);
  }
  /// What people call the access that is being made. Needs: a text that lives as long as the program.
  void call(const char* word) noexcept { word_ = word; }

  /// A word as a thread saw it.
  struct Seen {
    const Word* word = nullptr;
    std::uint64_t bits = 0;
    Stores::Stamp stamp = 0;
  };
  void saw(const Seen& seen) {
    if (running_ != nullptr) running_->round.emplace_back() = seen;
  }
  /// The thread has changed a word.
  void changed() noexcept {
    if (running_ != nullptr) running_->round.clear();
  }
  /// The next access of the thread waits until a word it saw, since it last paused or changed one, is another.
  void pause() noexcept;

  /// Gives: the words that the access of the thread waits for, or has waited for.
  [[nodiscard]] const std::vector<Seen>& waited_for(Process process) const noexcept {
    const Thread& thread = at(process);
    return thread.awaited.empty() ? thread.waited_for : thread.awaited;
  }

  struct Sleeper {
    Location line;
    bool* woken;
  };
  [[nodiscard]] std::vector<Sleeper>& sleepers() noexcept { return sleepers_; }

  /// Gives: the memory that keeps every store; nullptr when a load always reads the newest.
  [[nodiscard]] Stores* memory() noexcept { return memory_.get(); }
  /// A lock was taken or let go: who takes it next sees what its last holder did.
  void acquire(Location lock) {
    if (memory_ != nullptr && running_ != nullptr) memory_->acquire(running_->process, lock);
  }
  void release(Location lock) {
    if (memory_ != nullptr && running_ != nullptr) memory_->release(running_->process, lock);
  }
  /// Gives: the history of the word.
  [[nodiscard]] Stores::History history_of(const Word& word);
  /// Gives: the thread that runs now. Needs: one.
  [[nodiscard]] Process process() const noexcept { return running_->process; }
  [[nodiscard]] bool in_thread() const noexcept { return running_ != nullptr; }
  /// Gives: true when a compare_exchange_weak of this thread may still fail for no reason.
  [[nodiscard]] bool may_fail(Process process) const noexcept {
    return at(process).failures < machine_.spurious_failures;
  }
  void count_failure() noexcept {
    ++running_->failures;
    failed_for_no_reason_ = true;
  }
  /// The load that is being made reads a store that so many later ones have replaced.
  void set_age(std::uint32_t stores) noexcept { age_ = stores; }

  // --- Program ---

  void restart() override;
  [[nodiscard]] std::uint32_t repeat(const Execution& run, std::uint32_t size) override;
  [[nodiscard]] ProcessSet enabled() override;
  StepKind step(Process process, Footprint& touched) override;
  [[nodiscard]] std::string note() override;
  [[nodiscard]] Way ways(Process process) override;
  void choose(Process process, Way way) override { at(process).way = way; }
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
    std::vector<Seen> round;       // what it saw since it last paused or changed a word
    std::vector<Seen> awaited;     // one of these has to become another before the access
    std::vector<Seen> waited_for;  // the same, when it has
    std::uint32_t locations = 0;
    std::uint32_t failures = 0;
    Way way = 0;
    Process process = 0;
    bool accessed = false;  // since it last paused
    bool ended = true;
    Threads* owner = nullptr;
  };

  [[nodiscard]] Thread& at(std::size_t process) noexcept { return *threads_.data()[process]; }
  [[nodiscard]] const Thread& at(std::size_t process) const noexcept { return *threads_.data()[process]; }
  static void run_body(void* context);
  void await_turn() noexcept;
  void resume(Process process) noexcept;
  StepKind begin_step(Thread& thread, Footprint& touched);
  void end_step(Thread& thread, const Footprint& touched);
  [[nodiscard]] Thread* begin_repeated();
  [[nodiscard]] Thread* next_repeated();
  [[nodiscard]] bool can_go_on(const Thread& thread) const noexcept {
    return (thread.awaited.empty() && thread.access.can_go_on == nullptr) || is_let_go_on(thread);
  }
  [[nodiscard]] bool is_let_go_on(const Thread& thread) const noexcept;
  void begin_access(Thread& thread);
  [[nodiscard]] bool has_changed(const Seen& seen) const noexcept;
  [[nodiscard]] Stores::Stamp next_change(const Seen& seen) const;
  [[nodiscard]] Way ways_of_access(const Thread& thread);
  [[nodiscard]] Way ways_seeing(Thread& thread, const Seen& seen);
  void see_change(const Thread& thread, const Seen& seen);
  void leave_run() noexcept;
  [[nodiscard]] bool spins_for_ever(Process process);
  [[nodiscard]] std::string never_ending();
  [[nodiscard]] std::string names_of(ProcessSet set);

  Setup setup_;
  Machine machine_;
  std::unique_ptr<Stores> memory_;
  std::vector<Sleeper> sleepers_;
  std::vector<std::unique_ptr<Thread>> threads_;  // those beyond count_ keep their stacks
  std::uint32_t count_ = 0;
  std::vector<std::unique_ptr<KeptBase>> kept_;
  std::function<void()> at_end_;
  Footprint* touched_ = nullptr;
  const char* word_ = "";
  Thread* running_ = nullptr;
  std::uint32_t locations_ = 0;  // of the setup
  std::uint32_t accesses_left_ = 0;
  std::uint32_t age_ = 0;                // of what the last step read
  bool failed_for_no_reason_ = false;    // the last step
  const Execution* repeated_ = nullptr;  // its steps are being taken again, if there is one
  std::uint32_t repeated_at_ = 0;        // so many are
  std::uint32_t repeated_end_ = 0;       // and so many are to be
  Footprint repeats_;                    // what the one that is being taken again touches
  bool leaving_ = false;                 // the execution is over: accesses happen without waiting for a turn
  bool deadlock_allowed_ = false;
  Spins spins_;
  std::string problem_;
};

/// Visits every execution of a program of threads once.
/// Fails: as explore_optimal().
Report explore_threads(Threads::Setup setup, const Options& options = {}, const Machine& machine = {});

}  // namespace calm::explore
