#include "calm/trace/hash.hpp"

#include <algorithm>
#include <bit>

#include "calm/trace/bytes.hpp"

namespace calm::trace {
namespace {

// The five primes of the specification.
constexpr std::uint64_t prime_1 = 0x9E3779B185EBCA87;
constexpr std::uint64_t prime_2 = 0xC2B2AE3D27D4EB4F;
constexpr std::uint64_t prime_3 = 0x165667B19E3779F9;
constexpr std::uint64_t prime_4 = 0x85EBCA77C2B2AE63;
constexpr std::uint64_t prime_5 = 0x27D4EB2F165667C5;

constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t input) noexcept {
  return std::rotl(lane + input * prime_2, 31) * prime_1;
}

constexpr std::uint64_t converge(const std::array<std::uint64_t, 4>& lanes) noexcept {
  std::uint64_t sum =
      std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) + std::rotl(lanes[3], 18);
  for (const std::uint64_t lane : lanes) sum = (sum ^ round(0, lane)) * prime_1 + prime_4;
  return sum;
}

// The last bytes, fewer than a stripe: by eights, then four, then one by one.
std::uint64_t add_rest(std::uint64_t sum, const std::byte* at, std::size_t size) noexcept {
  for (; size >= 8; at += 8, size -= 8) {
    sum = std::rotl(sum ^ round(0, load_little<std::uint64_t>(at)), 27) * prime_1 + prime_4;
  }
  if (size >= 4) {
    sum = std::rotl(sum ^ load_little<std::uint32_t>(at) * prime_1, 23) * prime_2 + prime_3;
    at += 4;
    size -= 4;
  }
  for (; size > 0; ++at, --size) sum = std::rotl(sum ^ std::to_integer<std::uint64_t>(*at) * prime_5, 11) * prime_1;
  return sum;
}

constexpr std::uint64_t avalanche(std::uint64_t sum) noexcept {
  sum = (sum ^ sum >> 33) * prime_2;
  sum = (sum ^ sum >> 29) * prime_3;
  return sum ^ sum >> 32;
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) noexcept {
  return Hasher(seed).add(bytes).digest();
}

Hasher::Hasher(std::uint64_t seed) noexcept
    : lanes_{seed + prime_1 + prime_2, seed + prime_2, seed, seed - prime_1}, seed_(seed) {}

void Hasher::take_stripe(const std::byte* bytes) noexcept {
  for (std::size_t i = 0; i < lanes_.size(); ++i)
    lanes_[i] = round(lanes_[i], load_little<std::uint64_t>(bytes + 8 * i));
}

Hasher& Hasher::add(std::span<const std::byte> bytes) noexcept {
  const std::size_t waiting = total_ % stripe;
  total_ += bytes.size();
  if (waiting != 0) {
    const std::size_t taken = std::min(stripe - waiting, bytes.size());
    std::copy_n(bytes.begin(), taken, pending_.begin() + static_cast<std::ptrdiff_t>(waiting));
    bytes = bytes.subspan(taken);
    if (waiting + taken < stripe) return *this;
    take_stripe(pending_.data());
  }
  for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) take_stripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), pending_.begin());
  return *this;
}

Hasher& Hasher::add(std::uint64_t number) noexcept {
  std::array<std::byte, 8> bytes;
  store_little(bytes.data(), number);
  return add(bytes);
}

std::uint64_t Hasher::digest() const noexcept {
  const std::uint64_t start = total_ >= stripe ? converge(lanes_) : seed_ + prime_5;
  return avalanche(add_rest(start + total_, pending_.data(), total_ % stripe));
}

}  // namespace calm::trace
