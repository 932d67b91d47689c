// terminate_teller.hpp — when the process is about to end by std::terminate(), says which task did that.
// Laws:    OUT-5 (a destructor that throws ends the process; the handler names the task)
// Threads: made and ended anywhere; the handler on the thread that terminates
// Cancel:  not applicable
#pragma once

namespace calm::runtime {

/// While one of them lives, std::terminate() on a worker first tells on standard error which task it was in, where that task
/// stands, and with what exception. Then the handler is called that was there before. A handler that the program sets
/// meanwhile stays, and is its own.
class TerminateTeller {
 public:
  TerminateTeller() noexcept;
  TerminateTeller(const TerminateTeller&) = delete;
  TerminateTeller& operator=(const TerminateTeller&) = delete;
  ~TerminateTeller();
};

}  // namespace calm::runtime
