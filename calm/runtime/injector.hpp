// injector.hpp — work from threads that are none of the runtime's: spawned into a region, waited for by a thread.
// Laws:    I1 (what is spawned belongs to the region), REG-7 (admission_closed), TSK-3, TSK-5, HND-3, QUI-2, QUI-3, OUT-5
// Threads: an Injector and what it gives anywhere but on workers; made in a task
// Cancel:  a task that was spawned so is cancelled with its region, or by its budget; who waits for it is told Cancelled
//
//   calm::Injector door(scope);                              // in a task; hand it to any thread
//   auto handle = door.spawn(load, Url("…"));                // on that thread
//   calm::Outcome<Page> page = std::move(handle).wait();     // blocks it until the task has ended
//
// An injector keeps no region open: once the scope closes, spawn() answers admission_closed. It may outlive the runtime.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <utility>

#include "calm/check/require.hpp"
#include "calm/cx/gateway.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/sendable.hpp"
#include "calm/cx/spawn.hpp"
#include "calm/cx/spawned.hpp"
#include "calm/mem/ref.hpp"
#include "calm/runtime/bell.hpp"

namespace calm {

namespace runtime {

/// How an injected task ended, for the thread that asked.
template <class T>
struct Reply : mem::RefCounted {
  static void destroy(const Reply* reply) noexcept { delete reply; }

  Bell bell;
  std::optional<Outcome<T>> end;
  bool has_task = false;  ///< which replies; before there is one, the errand does

  void set(Outcome<T> outcome) noexcept {
    CALM_INVARIANT(TSK_3, !end.has_value());  // who waits may be reading it
    end.emplace(std::move(outcome));
    bell.ring();
  }
};

/// Gives: why the task is cancelled whose frames go, or that something around it was.
Reason reason_of_end(const cx::TaskRoot& task);

/// Sees to it that there is a reply, whatever becomes of the task. Says nothing for a task that could not be made.
template <class T>
class Replier {
 public:
  /// Needs: the shell of the task in whose frame it will be.
  Replier(mem::Ref<Reply<T>> reply, const cx::TaskRoot& task) noexcept : reply_(std::move(reply)), task_(task) {}
  Replier(Replier&& other) noexcept : reply_(std::exchange(other.reply_, {})), task_(other.task_) {}
  Replier& operator=(Replier&&) = delete;
  ~Replier() {
    if (reply_ && reply_->has_task && !reply_->bell.has_rung()) reply_->set(cancelled(reason_of_end(task_)));
  }
  void reply(Outcome<T> end) noexcept { std::exchange(reply_, {})->set(std::move(end)); }

 private:
  mem::Ref<Reply<T>> reply_;
  const cx::TaskRoot& task_;
};

/// A task that has its reply to give. Its own end is that of the work, without the value. What there is to do comes as one pointer: with clang
/// at -O0 nothing that throws may be moved into a frame (tests/compiler, parameter_that_throws).
template <class T, class Work>
Task<void> run_injected(Cx cx, Replier<T> replier, std::unique_ptr<Work> work) {
  std::optional<Task<T>> task;
  try {
    task.emplace(work->call(cx));
  } catch (...) {
    replier.reply(panicked());
    throw;
  }
  Outcome<T> end = co_await outcome(std::move(*task));
  ChildEnd told = cx::without_value(end);
  replier.reply(std::move(end));
  if (told.is_panicked()) std::rethrow_exception(told.panic().exception());
  if (!told.is_ok()) co_await fail_with(std::move(told));
}

/// Where a task from outside is to be, and under what terms.
struct OutsidePlace {
  cx::Port& port;
  RegionId region;
  cx::Crew& crew;
  TaskOptions options;
};

/// Admits a task that a thread outside made. Gives: why not; the shell is as it was then.
Status admit_from_outside(const OutsidePlace& place, kernel::Worker& worker, cx::TaskRoot& shell);

/// On its way to a worker.
template <class T, class F, class... Arguments>
class Injected final : public cx::Errand {
 public:
  Injected(const OutsidePlace& place, mem::Ref<Reply<T>> reply, F callable, Arguments... arguments)
      : place_(place), reply_(std::move(reply)), callable_(std::move(callable)), arguments_(std::move(arguments)...) {}

  void run(kernel::Worker* worker) noexcept override {
    std::unique_ptr<Injected> self(this);
    if (worker == nullptr) {
      refuse(*reply_, Errc::admission_closed);
    } else {
      admit(std::move(self), *worker);
    }
  }
  [[nodiscard]] About about() const noexcept override { return {Kind::outside, {}}; }

  // --- for the task ---

  /// Once. It stays until the task has ended (TSK-5).
  CALM_CORO_WRAPPER Task<T> call(Cx cx) { return call_with(cx, std::index_sequence_for<Arguments...>()); }

 private:
  using Shell = cx::Shell<void>;

  static void refuse(Reply<T>& reply, Status why) noexcept {
    reply.set(err(why.error(), "a task from outside was not admitted"));
  }

  static void admit(std::unique_ptr<Injected> self, kernel::Worker& worker) noexcept {
    const mem::Ref<Reply<T>> reply = self->reply_;
    const OutsidePlace place = self->place_;
    mem::Ref<Shell> shell;
    try {
      shell = mem::Ref<Shell>::adopt(Shell::template make<Shell>(place.options.name, place.port));
      shell->begin(run_injected<T>(Cx(shell->context()), Replier<T>(reply, *shell), std::move(self)));
    } catch (const std::bad_alloc&) {
      return refuse(*reply, Errc::resource_exhausted);
    }
    reply->has_task = true;
    shell->retain();
    const Status admitted = admit_from_outside(place, worker, *shell);
    if (!admitted) {
      refuse(*reply, admitted);  // before its frame goes, which would reply that it was cancelled
      shell->drop(worker, {});
      shell->let_go();
    }
  }
  template <std::size_t... index>
  CALM_CORO_WRAPPER Task<T> call_with(Cx cx, std::index_sequence<index...> /*each*/) {
    return callable_(cx, std::move(std::get<index>(arguments_))...);
  }

  OutsidePlace place_;
  mem::Ref<Reply<T>> reply_;
  F callable_;
  std::tuple<Arguments...> arguments_;
};

}  // namespace runtime

/// A task that a thread outside has spawned, for that thread. Dropping it changes nothing for the task (TSK-3).
template <class T>
class [[nodiscard]] OutsideHandle {
 public:
  explicit OutsideHandle(mem::Ref<runtime::Reply<T>> reply) noexcept : reply_(std::move(reply)) {}

  /// Blocks the calling thread until the task has ended. Gives: how; admission_closed when its region, or the runtime, did
  /// not take it any more. Once. Needs: a thread that is no worker, which would wait for itself.
  [[nodiscard]] Outcome<T> wait() && {
    runtime::Bell::require_no_worker();
    reply_->bell.wait();
    return std::move(*reply_->end);
  }
  /// Gives: true when wait() will not block; false when it would after so long.
  [[nodiscard]] bool wait_for(Duration duration) const noexcept {
    runtime::Bell::require_no_worker();
    return reply_->bell.wait_for(duration);
  }
  [[nodiscard]] bool has_ended() const noexcept { return reply_->bell.has_rung(); }

 private:
  mem::Ref<runtime::Reply<T>> reply_;
};

/// Spawns into one scope from any thread. It may be copied, and outlive scope and runtime.
class Injector {
 public:
  /// Needs: the scope's own task.
  explicit Injector(cx::ScopeBase& scope) noexcept
      : gateway_(scope.port_for_outside().gateway()),
        port_(&scope.port_for_outside()),
        region_(scope.region()),
        crew_(&scope.crew_for_outside()) {
    CALM_REQUIRE(LAB_1, bool(gateway_));  // the lab has no threads outside
  }

  /// Starts `callable(cx, arguments...)` as a task of the scope; whether it was admitted the handle tells. With options it has a
  /// name and a budget of its own, within that of the scope (BUD-3): a deadline in the time of the runtime, as Cx::now() tells it,
  /// a priority that it waits in, from when a worker takes it in.
  /// Fails: std::bad_alloc.
  template <class F, class... Arguments>
    requires(!std::same_as<F, TaskOptions>)
  auto spawn(F callable, Arguments... arguments) const -> OutsideHandle<cx::TaskValue<F, Cx, Arguments...>> {
    return spawn(TaskOptions{}, std::move(callable), std::move(arguments)...);
  }
  template <class F, class... Arguments>
  auto spawn(const TaskOptions& options, F callable, Arguments... arguments) const
      -> OutsideHandle<cx::TaskValue<F, Cx, Arguments...>> {
    static_assert((sendable<Arguments> && ...),
                  "calm: a task runs on another thread, so its arguments are values: no references, pointers, views or "
                  "reference wrappers (TSK-4)");
    using T = cx::TaskValue<F, Cx, Arguments...>;
    auto reply = mem::Ref<runtime::Reply<T>>::adopt(new runtime::Reply<T>());
    using Errand = runtime::Injected<T, F, Arguments...>;
    const runtime::OutsidePlace place{.port = *port_, .region = region_, .crew = *crew_, .options = options};
    auto errand = std::make_unique<Errand>(place, reply, std::move(callable), std::move(arguments)...);
    if (gateway_->hand_in(*errand)) {
      (void)errand.release();
    } else {
      errand.release()->run(nullptr);
    }
    return OutsideHandle<T>(std::move(reply));
  }

 private:
  mem::Ref<cx::Gateway> gateway_;
  cx::Port* port_;
  RegionId region_;
  cx::Crew* crew_;
};

}  // namespace calm
