// error_handler.cpp — what happens when a check fails is yours to decide: a log line, an exception in a test.
#include <calm/check/probe.hpp>
#include <calm/check/report.hpp>
#include <calm/check/require.hpp>

#include <iostream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace {

// [check]
// A check names the rule it guards and shows the values that broke it. Your own code can use it for its own rules.
class Account {
 public:
  void withdraw(int amount) {
    CALM_REQUIRE(ACC_1, amount > 0 && amount <= balance_, amount, balance_);
    balance_ -= amount;
    if (balance_ == 0) CALM_PROBE("account: emptied");
    if (balance_ < 10) CALM_PROBE("account: nearly empty");
  }

 private:
  int balance_ = 100;
};
// [/check]

// [handler]
// Without a handler the report goes to standard error and the process aborts. One that throws turns a broken rule into
// an exception, so that a test can go on. It cannot leave a noexcept function: there C++ ends the program.
void throw_report(const calm::check::Report& report) { throw std::logic_error(std::string(report.text())); }
// [/handler]

}  // namespace

int main() {
  Account account;
  account.withdraw(95);

  // [scoped]
  // The handler is one for the whole process; this object puts the old one back.
  const calm::check::ScopedHandler handler(throw_report);
  try {
    account.withdraw(70);
  } catch (const std::logic_error& error) {
    std::cout << error.what();
  }
  // [/scoped]

  // [probes]
  // Probes count how often a rare branch ran. One with 0 hits marks a branch that nothing has tested.
  calm::check::for_each_probe([](const calm::check::Probe& probe) {
    if (std::string_view(probe.file()) != "examples/error_handler.cpp") return;  // calm has probes of its own
    std::cout << "hits " << probe.hits() << " at line " << probe.line() << ": " << probe.name() << '\n';
  });
  // [/probes]
}

// [prints]
// prints:
//   calm: requirement not met: amount > 0 && amount <= balance_
//     values: amount = 70, balance_ = 5
//     at:     examples/error_handler.cpp:18 in Account::withdraw
//     law:    ACC-1
//     next:   fix the caller: this must hold before the call is made
//   hits 0 at line 20: account: emptied
//   hits 1 at line 21: account: nearly empty
// [/prints]
