// ledger.hpp — letters that say what became of them: received, returned, or destroyed on the way.
// Laws:    I4: sent = received + returned + dropped by the receiver, never anything else
// Threads: one
// Cancel:  not applicable
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <utility>

namespace calm::channel {

class Ledger {
 public:
  int sent = 0;
  int received = 0;
  int returned = 0;
  int dropped = 0;

  /// A value of this sender was received; those of one sender come in order.
  void receive(int from, int number) {
    ++received;
    if (number <= last_[from]) out_of_order_ = true;
    last_[from] = number;
  }
  /// Fails: std::logic_error unless every letter is accounted for.
  void verify(bool may_drop) const {
    const std::string text = "sent " + std::to_string(sent) + ", received " + std::to_string(received) + ", returned " +
                             std::to_string(returned) + ", dropped " + std::to_string(dropped);
    if (sent != received + returned + dropped) throw std::logic_error("a letter is lost or doubled: " + text);
    if (dropped != 0 && !may_drop) throw std::logic_error("a letter was dropped: " + text);
    if (out_of_order_) throw std::logic_error("letters of one sender changed places: " + text);
  }

 private:
  std::map<int, int> last_;
  bool out_of_order_ = false;
};

class Letter {
 public:
  Letter(Ledger& ledger, int from, int number) noexcept : ledger_(&ledger), from_(from), number_(number) {
    ++ledger.sent;
  }
  Letter(Letter&& other) noexcept
      : ledger_(std::exchange(other.ledger_, nullptr)), from_(other.from_), number_(other.number_) {}
  Letter& operator=(Letter&& other) noexcept {
    std::swap(ledger_, other.ledger_);
    std::swap(from_, other.from_);
    std::swap(number_, other.number_);
    return *this;
  }
  ~Letter() {
    if (ledger_ != nullptr) ++ledger_->dropped;
  }

  void receive() && { std::exchange(ledger_, nullptr)->receive(from_, number_); }
  void give_back() && { ++std::exchange(ledger_, nullptr)->returned; }

 private:
  Ledger* ledger_;
  int from_;
  int number_;
};

}  // namespace calm::channel
