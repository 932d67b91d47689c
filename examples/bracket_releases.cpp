// bracket_releases.cpp — acquire, use, release: the release happens however the use ends.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

namespace {

// [bracket]
struct Session {
  std::string user;
};

calm::Task<Session> log_in(calm::Cx cx) {
  co_await calm::sleep(cx, 1ms);
  std::cout << "logged in, ";
  co_return Session{"ada"};
}

// Waits, and a destructor could not. A cancel does not interrupt it.
calm::Task<> log_out(calm::Cx cx, Session& session) {
  co_await calm::sleep(cx, 1ms);
  std::cout << session.user << " logged out\n";
}

calm::Task<int> read_mail(calm::Cx cx, Session& session) {
  co_await calm::sleep(cx, 1ms);
  std::cout << session.user << " reads, ";
  co_return 3;
}

calm::Task<int> lose_connection(calm::Cx cx, Session& /*session*/) {
  co_await calm::sleep(cx, 1ms);
  std::cout << "the connection is lost, ";
  co_return calm::err(calm::Errc::disconnected);
}

calm::Task<int> wait_for_mail(calm::Cx cx, Session& session) {
  std::cout << session.user << " waits, ";
  const auto hurried = cx.with_deadline(cx.now() + 10ms);
  co_await calm::sleep(hurried, 1h);
  co_return 0;
}
// [/bracket]

}  // namespace

// [use]
calm::Task<> bracket_releases(calm::Cx cx) {
  const calm::Outcome<int> read = co_await calm::outcome(calm::bracket(cx, log_in, read_mail, log_out));
  std::cout << "  " << to_string(read.kind()) << '\n';

  const calm::Outcome<int> lost = co_await calm::outcome(calm::bracket(cx, log_in, lose_connection, log_out));
  std::cout << "  " << to_string(lost.kind()) << '\n';

  const calm::Outcome<int> late = co_await calm::outcome(calm::bracket(cx, log_in, wait_for_mail, log_out));
  std::cout << "  " << to_string(late.kind()) << '\n';
}

int main() { return calm::run(bracket_releases); }
// [/use]

// [prints]
// prints:
//   logged in, ada reads, ada logged out
//     Ok
//   logged in, the connection is lost, ada logged out
//     Err
//   logged in, ada waits, ada logged out
//     Cancelled
// [/prints]
