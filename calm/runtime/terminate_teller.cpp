#include "calm/runtime/terminate_teller.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <string>

#include "calm/runtime/engine.hpp"
#include "calm/runtime/this_worker.hpp"

namespace calm::runtime {
namespace {

std::mutex handlers_mutex;
int tellers = 0;
std::terminate_handler handler_before = nullptr;

/// Gives: what the exception says that brought this about; nothing when there is none.
std::string thrown() {
  const std::exception_ptr exception = std::current_exception();
  if (!exception) return {};
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& known) {
    return std::string("\n  why:  an exception that nobody could catch: ") + known.what();
  } catch (...) {
    return "\n  why:  an exception that nobody could catch";
  }
}

[[noreturn]] void tell_and_go_on() noexcept {
  const kernel::Worker* const worker = worker_of_this_thread();
  Engine* const engine = engine_of_this_thread();
  if (worker != nullptr && engine != nullptr && worker->running()) {
    const std::string text =
        "calm: the process ends by std::terminate() in a task\n  who:  " + engine->describe_running(*worker) +
        ", polled by worker " + std::to_string(worker->index()) + thrown() +
        "\n  law:  OUT-5 a destructor that throws, or a noexcept function, ends the process"
        "\n  next: let nothing leave them; what a task throws otherwise is its outcome\n";
    (void)std::fputs(text.c_str(), stderr);
  }
  std::terminate_handler before = nullptr;
  {
    const std::lock_guard guard(handlers_mutex);
    before = handler_before;
  }
  if (before != nullptr) before();
  std::abort();
}

}  // namespace

TerminateTeller::TerminateTeller() noexcept {
  const std::lock_guard guard(handlers_mutex);
  if (tellers++ == 0) handler_before = std::set_terminate(&tell_and_go_on);
}

TerminateTeller::~TerminateTeller() {
  const std::lock_guard guard(handlers_mutex);
  if (--tellers == 0 && std::get_terminate() == &tell_and_go_on) (void)std::set_terminate(handler_before);
}

}  // namespace calm::runtime
