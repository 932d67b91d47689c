#include "calm/cx/gateway.hpp"

#include <utility>

namespace calm::cx {

bool Gateway::hand_in(Errand& errand) noexcept {
  lock_.lock();
  const bool open = open_;
  if (open) {
    errand.next = nullptr;
    (first_ == nullptr ? first_ : last_->next) = &errand;
    last_ = &errand;
    ring_(host_);
  }
  lock_.unlock();
  return open;
}

Errand* Gateway::take() noexcept {
  lock_.lock();
  last_ = nullptr;
  Errand* const all = std::exchange(first_, nullptr);
  lock_.unlock();
  return all;
}

std::uint64_t Gateway::serve(kernel::Worker& worker, ErrandWatch* watch) noexcept {
  std::uint64_t served = 0;
  for (Errand* errand = take(); errand != nullptr; ++served) {
    Errand* const after = errand->next;
    if (watch != nullptr) watch->begins(*errand, worker);
    errand->run(&worker);
    errand = after;
  }
  return served;
}

bool Gateway::serve_one(kernel::Worker& worker) noexcept {
  lock_.lock();
  Errand* const oldest = first_;
  if (oldest != nullptr) {
    first_ = oldest->next;
    if (first_ == nullptr) last_ = nullptr;
  }
  lock_.unlock();
  if (oldest != nullptr) oldest->run(&worker);
  return oldest != nullptr;
}

void Gateway::close() noexcept {
  lock_.lock();
  open_ = false;
  lock_.unlock();
  for (Errand* errand = take(); errand != nullptr;) {
    Errand* const after = errand->next;
    errand->run(nullptr);
    errand = after;
  }
}

}  // namespace calm::cx
