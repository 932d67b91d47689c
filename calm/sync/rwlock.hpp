// rwlock.hpp — many readers or one writer; who writes goes before those who read.
// Laws:    CHN-12, OBL-2 (guards are counted), OBL-4, OBL-5, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting read() or write() leaves its line; when the last waiting writer leaves, the readers behind it go on; what
//          was granted and not taken goes to the next
//
// While a writer waits no reader is let in, so writers come to their turn however many read; readers wait as long as there are
// writers. A task that reads and then wants to write, or to read once more behind a waiting writer, waits for itself: end the
// first guard before.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"
#include "calm/sync/line.hpp"

namespace calm {

namespace sync {

/// Who reads or writes, and who waits for it: two lines of one primitive.
class ReadersWriter {
 public:
  class Readers {
   public:
    explicit Readers(ReadersWriter& all) noexcept : all_(all), line_(Line::Beside{all.writers_.line()}) {}
    [[nodiscard]] Line& line() noexcept { return line_; }
    [[nodiscard]] TaskId holder() const noexcept { return all_.writer_; }
    [[nodiscard]] bool try_admit(const Waiter& /*waiter*/, TaskId /*task*/) noexcept { return all_.try_read(); }
    [[nodiscard]] bool refuses(const Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
      return all_.refuses(task, end);
    }
    static void left(const Waiter& /*waiter*/) noexcept {}
    void take_back(const Waiter& /*waiter*/) noexcept { all_.stop_reading(); }

   private:
    ReadersWriter& all_;
    Line line_;
  };

  class Writers {
   public:
    Writers(ReadersWriter& all, CxOf<> cx) noexcept : all_(all), line_(cx) {}
    [[nodiscard]] Line& line() noexcept { return line_; }
    [[nodiscard]] TaskId holder() const noexcept { return all_.writer_; }
    [[nodiscard]] bool try_admit(const Waiter& /*waiter*/, TaskId task) noexcept { return all_.try_write(task); }
    [[nodiscard]] bool refuses(const Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
      return all_.refuses(task, end);
    }
    void left(const Waiter& /*waiter*/) noexcept { all_.serve(); }
    void take_back(const Waiter& /*waiter*/) noexcept { all_.stop_writing(); }

   private:
    ReadersWriter& all_;
    Line line_;
  };

  explicit ReadersWriter(CxOf<> cx) noexcept : writers_(*this, cx), readers_(*this) {}
  ReadersWriter(const ReadersWriter&) = delete;
  ReadersWriter& operator=(const ReadersWriter&) = delete;
  ~ReadersWriter() = default;

  [[nodiscard]] Readers& readers() noexcept { return readers_; }
  [[nodiscard]] Writers& writers() noexcept { return writers_; }
  [[nodiscard]] cx::Port& port() noexcept { return writers_.line().port(); }

  /// Only look.
  [[nodiscard]] std::uint32_t reading() noexcept {
    const Line::Turn turn(writers_.line());
    writers_.line().reads();
    return reading_;
  }
  [[nodiscard]] bool is_written() noexcept {
    const Line::Turn turn(writers_.line());
    writers_.line().reads();
    return bool(writer_);
  }

  void end_read() noexcept {
    const Line::Turn turn(writers_.line());
    stop_reading();
  }
  void end_write() noexcept {
    const Line::Turn turn(writers_.line());
    stop_writing();
  }

 private:
  void stop_reading() noexcept {
    writers_.line().writes();
    --reading_;
    serve();
  }
  void stop_writing() noexcept {
    writers_.line().writes();
    writer_ = {};
    serve();
  }
  [[nodiscard]] bool try_read() noexcept {
    if (writer_ || !writers_.line().empty()) return false;
    ++reading_;
    return true;
  }
  [[nodiscard]] bool try_write(TaskId task) noexcept {
    if (writer_ || reading_ != 0 || !writers_.line().empty()) return false;
    writer_ = task;
    return true;
  }
  [[nodiscard]] bool refuses(TaskId task, ChildEnd& end) const noexcept {
    if (writer_ != task) return false;
    end = err(
        Error(Errc::conflict,
              "a task locks what it writes already, and would wait for itself [CHN-12]; next: use the guard it has, "
              "or end it before"));
    return true;
  }

  /// Writers first, one at a time and alone; readers all at once.
  void serve() noexcept {
    if (writer_) return;
    if (Waiter* const next = writers_.line().first()) {
      if (reading_ != 0) return;
      writer_ = next->task();
      writers_.line().grant(*next);
      return;
    }
    while (Waiter* const next = readers_.line().first()) {
      ++reading_;
      readers_.line().grant(*next);
    }
  }

  Writers writers_;
  Readers readers_;
  TaskId writer_{};            // with one, reading_ is 0
  std::uint32_t reading_ = 0;  // also of grants that were not taken yet
};

}  // namespace sync

/// A lock around a T, or around nothing but what the program says.
template <class T = void>
class RwLock {
  struct Nothing {};
  using Value = std::conditional_t<std::is_void_v<T>, Nothing, T>;
  enum class Way : bool { read, write };

 public:
  /// Needs: the context of the code that makes it; nobody holds or awaits it when it ends.
  explicit RwLock(CxOf<> cx) : state_(cx) {}
  RwLock(CxOf<> cx, Value value)
    requires(!std::is_void_v<T>)
      : state_(cx), value_(std::move(value)) {}
  RwLock(const RwLock&) = delete;
  RwLock& operator=(const RwLock&) = delete;
  ~RwLock() = default;

  template <Way way>
  class [[nodiscard("a guard that is dropped at once protects nothing")]] Guard {
    using Seen = std::conditional_t<way == Way::write, Value, const Value>;

   public:
    Guard(Guard&& other) noexcept : lock_(std::exchange(other.lock_, nullptr)), promise_(std::move(other.promise_)) {}
    Guard& operator=(Guard&& other) noexcept {
      std::swap(lock_, other.lock_);
      std::swap(promise_, other.promise_);
      return *this;
    }
    ~Guard() { unlock(); }

    /// Before its end. A second time it does nothing.
    void unlock() noexcept {
      if (lock_ == nullptr) return;
      promise_.settle(lock_->state_.port(), ObligationKind::lock_guard);
      sync::ReadersWriter& state = std::exchange(lock_, nullptr)->state_;
      if constexpr (way == Way::write) {
        state.end_write();
      } else {
        state.end_read();
      }
    }
    /// Gives: false once it was unlocked or moved from.
    [[nodiscard]] explicit operator bool() const noexcept { return lock_ != nullptr; }

    /// Needs: not unlocked, not moved from.
    [[nodiscard]] Seen& operator*() const noexcept
      requires(!std::is_void_v<T>)
    {
      CALM_REQUIRE(CHN_12, lock_ != nullptr);
      return lock_->value_;
    }
    [[nodiscard]] Seen* operator->() const noexcept
      requires(!std::is_void_v<T>)
    {
      return &**this;
    }

   private:
    friend class RwLock;
    explicit Guard(RwLock& lock) noexcept : lock_(&lock), promise_(lock.state_.port(), ObligationKind::lock_guard) {}

    RwLock* lock_;
    sync::Counted promise_;
  };
  using ReadGuard = Guard<Way::read>;
  using WriteGuard = Guard<Way::write>;

 private:
  template <class Side, Way way>
  class LockWait : public sync::LineWait<Side> {
   public:
    LockWait(const cx::Context* context, Side* side, RwLock* lock) noexcept
        : sync::LineWait<Side>(context, side), lock_(*lock) {}
    [[nodiscard]] Guard<way> result() noexcept {
      this->use_grant();
      return Guard<way>(lock_);
    }

   protected:
    ~LockWait() = default;

   private:
    RwLock& lock_;
  };
  template <class Side, Way way>
  using Awaitable = cx::WaitFor<LockWait<Side, way>, const cx::Context*, Side*, RwLock*>;

 public:
  /// Gives: a guard, when nobody writes or waits to write. Fails: conflict when the task writes.
  Awaitable<sync::ReadersWriter::Readers, Way::read> read(CxOf<> cx) noexcept {
    return Awaitable<sync::ReadersWriter::Readers, Way::read>(&cx::context_of(cx), &state_.readers(), this);
  }
  /// Gives: a guard, when nobody reads or writes and those who wait longer to write have had theirs. Fails: as read().
  Awaitable<sync::ReadersWriter::Writers, Way::write> write(CxOf<> cx) noexcept {
    return Awaitable<sync::ReadersWriter::Writers, Way::write>(&cx::context_of(cx), &state_.writers(), this);
  }

  /// Only look.
  [[nodiscard]] std::uint32_t reading() noexcept { return state_.reading(); }
  [[nodiscard]] bool is_written() noexcept { return state_.is_written(); }

 private:
  sync::ReadersWriter state_;
  [[no_unique_address]] Value value_{};
};

}  // namespace calm
