// trap: `if (co_await …)` in a body that declares no variable before it puts the frame's header in the wrong place
// flags: -O2
#include "probe.hpp"

namespace {

struct Where {
  void* address = nullptr;
};

/// Notes the address of the frame, which is what a promise's own handle must say as well.
struct Note {
  Where* where;
  [[nodiscard]] bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> frame) const noexcept { where->address = frame.address(); }
  [[nodiscard]] bool await_resume() const noexcept { return true; }
};

Note note(Where& where) { return Note{&where}; }

// What is wrong shows at once; going on would crash, and so would ending it.
auto* body(Where& where, int& out) {
  struct Body {
    static probe::Coroutine run(Where& where, int& out) {
      if (co_await note(where)) out = 1;
    }
  };
  return new probe::Coroutine(Body::run(where, out));
}

}  // namespace

int main() {
  Where where;
  int out = 0;
  return probe::verdict(body(where, out)->handle().address() != where.address);
}
