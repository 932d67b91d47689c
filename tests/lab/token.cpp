#include "token.hpp"

#include <array>
#include <utility>

namespace calm::programs {

std::uint64_t Purse::reserve(std::uint32_t kind) {
  constexpr std::array<ObligationKind, 4> kinds{ObligationKind::ack, ObligationKind::lease,
                                                ObligationKind::pool_checkout, ObligationKind::custom};
  Outcome<Obligation> made = calm::reserve(cx_, kinds[kind % kinds.size()]);
  if (!made) return static_cast<std::uint64_t>(made.error().code());
  journal_.reserved();
  const OwnMemory own;
  tokens_.push_back(std::move(made).value());
  return 0;
}

Obligation Purse::take_out(std::uint32_t which) {
  const auto at = tokens_.begin() + static_cast<std::ptrdiff_t>(which % tokens_.size());
  Obligation token = std::move(*at);
  tokens_.erase(at);
  return token;
}

std::shared_ptr<Gift> Purse::give(std::uint32_t which) {
  const OwnMemory own;
  return tokens_.empty() ? nullptr : std::make_shared<Gift>(journal_, take_out(which));
}

std::uint64_t Purse::take(std::uint32_t which, End end) {
  if (tokens_.empty()) return 0;
  Obligation token = take_out(which);
  journal_.resolved(end == End::drop);
  if (end == End::drop) return 0;
  const Status status = end == End::commit ? token.commit() : token.abort();
  journal_.expect_unforced(status.is_ok(), "OBL-1", "a promise was not resolved; all so far", 0);
  return 0;
}

}  // namespace calm::programs
