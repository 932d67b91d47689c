// once_cell.hpp — a value that is made when it is first asked for, by one task, while the others wait for it.
// Laws:    CHN-12 (a failed initialiser lets the next try), OBL-2, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  who waits leaves the line; when the one that makes the value is cancelled, or fails, the next in line makes it
//
//   const Table* table = co_await tables.get_or_make(cx, load_table);   // load_table(cx) gives a Task<Table>
#pragma once

#include <optional>
#include <utility>

#include "calm/cx/cx.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/error.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/counted.hpp"
#include "calm/sync/line.hpp"

namespace calm {

namespace sync {

/// Who makes the value, and who waits for it.
class MakeOnce {
 public:
  explicit MakeOnce(CxOf<> cx) noexcept : line_(cx) {}

  [[nodiscard]] bool is_made() const noexcept {
    const Line::Turn turn(line_);
    line_.reads();
    return made_;
  }
  /// It is there, for everybody.
  void succeed() noexcept {
    const Line::Turn turn(line_);
    line_.writes();
    made_ = true;
    maker_ = {};
    while (Waiter* const next = line_.first()) line_.grant(*next);
  }
  /// It is not: the next tries.
  void give_up() noexcept {
    const Line::Turn turn(line_);
    line_.writes();
    pass_on();
  }

  // --- what a LineWait asks ---

  [[nodiscard]] Line& line() noexcept { return line_; }
  [[nodiscard]] bool try_admit(const Waiter& /*waiter*/, TaskId task) noexcept {
    if (made_) return true;
    if (maker_) return false;
    maker_ = task;
    return true;
  }
  [[nodiscard]] bool refuses(const Waiter& /*waiter*/, TaskId task, ChildEnd& end) const noexcept {
    if (maker_ != task) return false;
    end =
        err(Error(Errc::conflict,
                  "what makes the value of a cell asks for it, and would wait for itself [CHN-12]; next: make it from "
                  "other things"));
    return true;
  }
  static void left(const Waiter& /*waiter*/) noexcept {}
  void take_back(const Waiter& /*waiter*/) noexcept {
    if (!made_) pass_on();
  }

 private:
  void pass_on() noexcept {
    Waiter* const next = line_.first();
    maker_ = next == nullptr ? TaskId() : next->task();
    if (next != nullptr) line_.grant(*next);
  }

  Line line_;
  bool made_ = false;
  TaskId maker_{};  // also of a grant that was not taken yet
};

/// Ends with true for who is to make the value, with false when it is there.
class MakeWait : public LineWait<MakeOnce> {
 public:
  using LineWait::LineWait;
  [[nodiscard]] bool result() noexcept {
    use_grant();
    return !primitive().is_made();
  }

 protected:
  ~MakeWait() = default;
};

/// The promise to make it: given up unless it was kept.
class Making {
 public:
  explicit Making(MakeOnce& once) noexcept : once_(once), promise_(once.line().port(), ObligationKind::lock_guard) {}
  Making(const Making&) = delete;
  Making& operator=(const Making&) = delete;
  ~Making() {
    if (kept_) return;
    promise_.settle(once_.line().port(), ObligationKind::lock_guard);
    once_.give_up();
  }
  void keep() noexcept {
    kept_ = true;
    promise_.settle(once_.line().port(), ObligationKind::lock_guard);
    once_.succeed();
  }

 private:
  MakeOnce& once_;
  Counted promise_;
  bool kept_ = false;
};

}  // namespace sync

template <class T>
class OnceCell {
 public:
  /// Needs: the context of the code that makes it; nobody waits when it ends.
  explicit OnceCell(CxOf<> cx) noexcept : once_(cx) {}
  OnceCell(const OnceCell&) = delete;
  OnceCell& operator=(const OnceCell&) = delete;
  ~OnceCell() = default;

  /// Gives: the value; nullptr before it was made. Only looks.
  [[nodiscard]] const T* get() const noexcept { return once_.is_made() ? &*value_ : nullptr; }

  /// Gives: the value, made by `make(cx)` when there is none yet and nobody is about to make it.
  /// Fails: as make() does, and then the next who waits makes it; conflict when make() asks for what it makes.
  template <class Context, class F>
  Task<const T*> get_or_make(Context cx, F make) {
    const bool is_maker =
        co_await cx::WaitFor<sync::MakeWait, const cx::Context*, sync::MakeOnce*>(&cx::context_of(cx), &once_);
    if (is_maker) {
      sync::Making making(once_);
      T value = co_await make(cx);
      value_.emplace(std::move(value));
      making.keep();
    }
    co_return &*value_;
  }

 private:
  sync::MakeOnce once_;
  std::optional<T> value_;
};

}  // namespace calm
