// pool.hpp — objects that tasks take out and bring back; first come, first served.
// Laws:    CHN-12, OBL-2 (a checkout has a record), OBL-4, OBL-5, CAN-13
// Threads: the tasks of one runtime, on any of its workers; see line.hpp
// Cancel:  a waiting checkout() leaves the line; an object that was granted and not taken goes to the next
//
//   calm::Pool<Connection> connections(cx, std::move(opened));
//   calm::Pool<Connection>::Lease connection = co_await connections.checkout(inner);
//   co_await connection->send(inner, query);
//   connection.give_back();
//
// A lease that ends without give_back(), because its task failed or was cancelled, expires: the object is back in the pool and
// the promise counts as aborted. The scope of the checkout stays open as long as the lease.
#pragma once

#include <cstdint>
#include <source_location>
#include <utility>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/cx/cx.hpp"
#include "calm/cx/obligation.hpp"
#include "calm/cx/task.hpp"
#include "calm/cx/wait.hpp"
#include "calm/model/obligation_kind.hpp"
#include "calm/sync/line.hpp"
#include "calm/sync/semaphore.hpp"

namespace calm {

template <class T>
class Pool {
 public:
  /// Needs: the context of the code that makes it; at least one object; nothing is taken out or awaited when it ends.
  /// Fails: std::bad_alloc.
  Pool(CxOf<> cx, std::vector<T> objects)
      : objects_(std::move(objects)), places_(cx, static_cast<std::uint32_t>(objects_.size())) {
    CALM_REQUIRE(CHN_12, !objects_.empty());
    free_.reserve(objects_.size());
    for (T& object : objects_) free_.push_back(&object);
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool() { CALM_REQUIRE(CHN_12, free_.size() == objects_.size(), free_.size(), objects_.size()); }

 private:
  /// An object that is out, and goes back.
  class Out {
   public:
    /// Needs: a turn.
    explicit Out(Pool& pool) noexcept : pool_(&pool), object_(pool.free_.back()) { pool.free_.pop_back(); }
    Out(Out&& other) noexcept : pool_(other.pool_), object_(std::exchange(other.object_, nullptr)) {}
    Out& operator=(Out&& other) noexcept {
      std::swap(pool_, other.pool_);
      std::swap(object_, other.object_);
      return *this;
    }
    ~Out() { bring_back(); }

    [[nodiscard]] T* object() const noexcept { return object_; }
    void bring_back() noexcept {
      if (object_ == nullptr) return;
      const sync::Line::Turn turn(pool_->places_.line());
      pool_->free_.push_back(std::exchange(object_, nullptr));
      pool_->places_.give_back_in_turn(1);
    }

   private:
    Pool* pool_;
    T* object_;
  };

 public:
  class [[nodiscard("a lease that is dropped at once expires")]] Lease {
   public:
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) noexcept = default;
    ~Lease() { (void)promise_.abort(); }

    /// Back into the pool; the promise is kept. A second time it does nothing.
    void give_back() noexcept {
      (void)promise_.commit();
      out_.bring_back();
    }
    /// Needs: not given back, not moved from.
    [[nodiscard]] T& operator*() const noexcept {
      CALM_REQUIRE(CHN_12, out_.object() != nullptr);
      return *out_.object();
    }
    [[nodiscard]] T* operator->() const noexcept { return &**this; }

   private:
    friend class Pool;
    Lease(Out out, Obligation promise) noexcept : out_(std::move(out)), promise_(std::move(promise)) {}

    Out out_;
    Obligation promise_;
  };

  /// Gives: an object, when all who came before have had theirs.
  /// Fails: as reserve() does, in a scope that is not open or has too many promises; nothing is taken out then.
  CALM_CORO_WRAPPER Task<Lease> checkout(CxOf<> cx, std::source_location site = std::source_location::current()) {
    return take_out(cx, site);
  }

  /// Only looks. Gives: how many are there to be taken out.
  [[nodiscard]] std::uint32_t free() const noexcept { return places_.free(); }

 private:
  class OutWait : public sync::LineWait<sync::Permits> {
   public:
    OutWait(const cx::Context* context, Pool* pool) noexcept : LineWait(context, &pool->places_), pool_(*pool) {}
    [[nodiscard]] Out result() noexcept {
      use_grant();
      const sync::Line::Turn turn(pool_.places_.line());
      pool_.places_.line().writes();  // which object it is depends on who came to take one before
      return Out(pool_);
    }

   protected:
    ~OutWait() = default;

   private:
    Pool& pool_;
  };

  Task<Lease> take_out(CxOf<> cx, std::source_location site) {
    Out out = co_await cx::WaitFor<OutWait, const cx::Context*, Pool*>(&cx::context_of(cx), this);
    Obligation promise = co_await reserve(cx, ObligationKind::pool_checkout, places_.line().resource(), site);
    co_return Lease(std::move(out), std::move(promise));
  }

  std::vector<T> objects_;
  std::vector<T*> free_;  // CHN-12: as many as places_ says, and those that are granted and not taken yet
  sync::Permits places_;
};

}  // namespace calm
