// hello.cpp — the smallest program: one coroutine awaits another, which waits a moment and says hello.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

// [hello]
// A Task is a coroutine. Its first parameter is a Cx: the right to act. This one asks for time and nothing else, so it can
// sleep, but it cannot start a task.
calm::Task<> greet(calm::CxOf<calm::cap::time> cx, std::string name) {
  co_await calm::sleep(cx, 10ms);  // parks this task; the thread is free for others
  std::cout << "hello, " << name << '\n';
}

calm::Task<> hello(calm::Cx cx) {  // Cx: all rights. Passing it on may narrow it, never widen it
  co_await greet(cx, "world");     // runs greet() to its end; a failure in there would end hello() as well
}

int main() { return calm::run(hello); }  // returns when nothing of the program is alive any more
// [/hello]

// [prints]
// prints:
//   hello, world
// [/prints]
