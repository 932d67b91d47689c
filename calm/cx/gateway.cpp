#include "calm/cx/gateway.hpp"

namespace calm::cx {

bool Gateway::hand_in(Errand& errand) noexcept {
  return line_.push(errand, [this] { ring_(host_); });
}

std::uint64_t Gateway::serve(kernel::Worker& worker, ErrandWatch* watch) noexcept {
  std::uint64_t served = 0;
  for (Errand* errand = line_.take_all(); errand != nullptr; ++served) {
    Errand* const after = errand->next;
    if (watch != nullptr) watch->begins(*errand, worker);
    errand->run(&worker);
    errand = after;
  }
  return served;
}

bool Gateway::serve_one(kernel::Worker& worker) noexcept {
  Errand* const oldest = line_.take_oldest();
  if (oldest != nullptr) oldest->run(&worker);
  return oldest != nullptr;
}

void Gateway::close() noexcept {
  for (Errand* errand = line_.close(); errand != nullptr;) {
    Errand* const after = errand->next;
    errand->run(nullptr);
    errand = after;
  }
}

}  // namespace calm::cx
