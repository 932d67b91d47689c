// outcome_chain.cpp — a setting becomes an address step by step; each step may fail, and none asks whether the last did.
#include <calm/calm.hpp>

#include <charconv>
#include <iostream>
#include <string>
#include <string_view>
#include <system_error>

using calm::Errc;
using calm::Outcome;

namespace {

Outcome<int> to_number(std::string_view text) {
  int number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, problem] = std::from_chars(text.data(), end, number);
  if (problem != std::errc() || stopped != end) {
    return calm::err(Errc::invalid_argument, std::string(text) + " is not a number");
  }
  return number;
}

// [chain]
// A step returns its value, or says why there is none. Nothing is thrown, and the caller cannot overlook it.
Outcome<int> to_port(int number) {
  if (number < 1 || number > 65535) return calm::err(Errc::invalid_argument, std::to_string(number) + " is not a port");
  return number;
}

// The first step that fails ends the chain: no later step runs, and its error is the result.
Outcome<std::string> to_address(std::string_view text) {
  return to_number(text).and_then(to_port).map([](int port) { return "localhost:" + std::to_string(port); });
}
// [/chain]

// [visit]
// One function for each of the four kinds of end. Forget one, and the program does not compile.
int exit_code(const Outcome<std::string>& outcome) {
  return outcome.visit([](const std::string&) { return 0; },   // Ok
                       [](const calm::Error&) { return 1; },   // Err: an expected failure
                       [](const calm::Reason&) { return 2; },  // Cancelled: somebody stopped the work
                       [](const calm::Panic&) { return 3; });  // Panicked: an exception escaped
}
// [/visit]

}  // namespace

int main() {
  for (const std::string_view setting : {"8080", "http", "70000"}) {
    const Outcome<std::string> address = to_address(setting);
    std::cout << setting << " gives " << to_string(address) << ", exit code " << exit_code(address) << '\n';
  }

  // [value]
  // A default is one way out. The other is value(): it throws what it cannot give.
  std::cout << "the port is " << to_number("http").and_then(to_port).value_or(80) << '\n';
  try {
    std::cout << to_address("70000").value() << '\n';
  } catch (const calm::OutcomeError& error) {
    std::cout << error.what() << '\n';
  }
  // [/value]
}

// [prints]
// prints:
//   8080 gives Ok("localhost:8080"), exit code 0
//   http gives Err(invalid_argument: http is not a number), exit code 1
//   70000 gives Err(invalid_argument: 70000 is not a port), exit code 1
//   the port is 80
//   Err: invalid_argument: 70000 is not a port
//     at:    examples/outcome_chain.cpp:28 in to_port
//     cause: an argument is outside what the call accepts
//     fix:   see the Needs line of the call
// [/prints]
