// pipeline_backpressure.cpp — a fast stage in front of a slow one: it waits, nothing piles up, and when a stage fails every
// order is accounted for.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <utility>

using namespace std::chrono_literals;

namespace {

/// Counts the orders that exist: an order says when it is made, shipped, or gone on the way.
struct Orders {
  int made = 0;
  int shipped = 0;
  int gone = 0;
  int most = 0;  // on the way at a time
};

class Order {
 public:
  Order(Orders& orders, int number) : orders_(&orders), number_(number) {
    ++orders.made;
    const int on_the_way = orders.made - orders.shipped - orders.gone;
    if (on_the_way > orders.most) orders.most = on_the_way;
  }
  Order(Order&& other) noexcept : orders_(std::exchange(other.orders_, nullptr)), number_(other.number_) {}
  Order& operator=(Order&&) = delete;
  ~Order() {
    if (orders_ != nullptr) ++orders_->gone;
  }
  void ship() && { ++std::exchange(orders_, nullptr)->shipped; }
  [[nodiscard]] int number() const { return number_; }

 private:
  Orders* orders_;
  int number_;
};

// [stages]
/// The first stage makes as many orders as it can send. It waits when the channel behind it is full.
struct TakeOrders {
  Orders* orders;

  calm::Task<> operator()(calm::Cx cx, calm::channel::Sender<Order> out) const {
    for (int number = 1; number <= 100; ++number) {
      const auto sent = co_await out.send(cx, Order(*orders, number));
      if (!sent) co_return;  // cancelled, or nobody takes orders any more; this one has come back in `sent`
    }
  }
};

/// A stage of its own task: a value comes in, a value goes on.
struct Check {
  int bad;

  calm::Task<Order> operator()(calm::Cx cx, Order order) const {
    co_await calm::yield(cx);
    if (order.number() == bad) co_await calm::fail(calm::Errc::protocol);
    co_return order;
  }
};

/// The last stage gives nothing. It is the slow one.
calm::Task<> ship(calm::Cx cx, Order order) {
  co_await calm::sleep(cx, 100us);
  std::move(order).ship();
}
// [/stages]

const char* yes(bool holds) { return holds ? "yes" : "no"; }

// [run]
calm::Task<> ship_all(calm::Cx cx) {
  Orders orders;
  const calm::PipelineOptions options{.capacity = 2};
  co_await calm::pipeline(cx, options, calm::produce<Order>(TakeOrders{&orders}), calm::each(Check{.bad = 0}),
                          calm::each(ship));
  std::cout << "shipped: " << orders.shipped << " of " << orders.made << '\n';
  // Two in each of the two channels, and one in the hands of each stage.
  std::cout << "never more than 7 on the way: " << yes(orders.most <= 7) << '\n';
}

calm::Task<> one_is_bad(calm::Cx cx) {
  Orders orders;
  const calm::PipelineOptions options{.capacity = 2};
  const calm::Outcome<void> end = co_await calm::outcome(calm::pipeline(
      cx, options, calm::produce<Order>(TakeOrders{&orders}), calm::each(Check{.bad = 5}), calm::each(ship)));
  // The failure has cancelled all stages, and all have ended: whatever was on the way is gone by now.
  std::cout << "then: " << to_string(end.kind()) << ' ' << calm::to_string(end.error()) << '\n';
  std::cout << "made = shipped + gone: " << yes(orders.made == orders.shipped + orders.gone) << '\n';
  std::cout << "no more than 4 were shipped: " << yes(orders.shipped <= 4) << '\n';
}
// [/run]

}  // namespace

calm::Task<> pipeline_backpressure(calm::Cx cx) {
  co_await ship_all(cx);
  co_await one_is_bad(cx);
}

int main() { return calm::run(pipeline_backpressure); }

// [prints]
// prints:
//   shipped: 100 of 100
//   never more than 7 on the way: yes
//   then: Err protocol
//   made = shipped + gone: yes
//   no more than 4 were shipped: yes
// [/prints]
