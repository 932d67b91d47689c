// The consumer of the install tests: touches headers and library and prints what the tests compare.
#include <calm/calm.hpp>

#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

namespace {

calm::Outcome<int> half(int number) {
  if (number % 2 != 0) return calm::err(calm::Errc::invalid_argument, std::to_string(number) + " is odd");
  return number / 2;
}

void print(const std::string& text) { std::printf("%s\n", text.c_str()); }

}  // namespace

int main() {
  print("calm " CALM_VERSION);
  print(to_string(half(84).and_then(half)));
  print(to_string(half(21)));
  print(to_string(calm::meet({.polls = calm::Quota(9)}, {.deadline = calm::Time() + 2s, .priority = 7})));
  print(to_string(calm::Reason({.kind = calm::CancelKind::shutdown, .at = calm::Time() + 1s, .message = "bye"})));
}
