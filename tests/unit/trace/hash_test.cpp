#include "calm/trace/hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <xxhash.h>

#include <cstdint>
#include <random>
#include <span>
#include <string_view>
#include <vector>

namespace calm::trace {
namespace {

std::uint64_t hash_of(std::string_view text, std::uint64_t seed = 0) {
  return xxh64(std::as_bytes(std::span(text.data(), text.size())), seed);
}

std::vector<std::byte> random_bytes(std::size_t size, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() & 0xFF);
  return bytes;
}

// LAB-12
TEST(Hash, gives_the_published_values) {
  EXPECT_EQ(hash_of(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(hash_of("a"), 0xD24EC4F1A98C6E5BU);
  EXPECT_EQ(hash_of("abc"), 0x44BC2CF5AD770999U);
  EXPECT_EQ(hash_of("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1U);
}

TEST(Hash, equals_the_reference_library_for_every_length_and_seed) {
  for (std::size_t size = 0; size <= 300; ++size) {
    const auto bytes = random_bytes(size, size);
    for (const std::uint64_t seed :
         {std::uint64_t{0}, std::uint64_t{1}, UINT64_MAX, std::uint64_t{0x9E3779B185EBCA87}}) {
      EXPECT_EQ(xxh64(bytes, seed), XXH64(bytes.data(), bytes.size(), seed)) << size << " bytes, seed " << seed;
    }
  }
}

TEST(Hash, does_not_depend_on_where_the_pieces_are_cut) {
  for (std::size_t size = 0; size <= 300; size += size < 100 ? 1 : 7) {
    const auto bytes = random_bytes(size, 1000 + size);
    const std::span<const std::byte> all(bytes);
    const std::uint64_t expected = xxh64(bytes, 7);
    for (std::size_t cut = 0; cut <= size; ++cut) {
      Hasher hasher(7);
      hasher.add(all.first(cut)).add(all.subspan(cut));
      ASSERT_EQ(hasher.digest(), expected) << size << " bytes cut at " << cut;
    }
  }
}

RC_GTEST_PROP(Hash, equals_the_reference_library_over_any_pieces,
              (const std::vector<std::vector<std::uint8_t>>& pieces, std::uint64_t seed)) {
  Hasher hasher(seed);
  std::vector<std::uint8_t> all;
  for (const auto& piece : pieces) {
    hasher.add(std::as_bytes(std::span(piece)));
    all.insert(all.end(), piece.begin(), piece.end());
    RC_ASSERT(hasher.digest() == XXH64(all.data(), all.size(), seed));
  }
}

TEST(Hash, of_a_number_is_that_of_its_bytes_from_the_least_significant_on) {
  constexpr std::byte bytes[] = {std::byte{8}, std::byte{7}, std::byte{6}, std::byte{5},
                                 std::byte{4}, std::byte{3}, std::byte{2}, std::byte{1}};
  EXPECT_EQ(Hasher().add(std::uint64_t{0x0102030405060708}).digest(), xxh64(bytes));
}

TEST(Hash, goes_on_after_a_digest_was_taken) {
  Hasher hasher;
  hasher.add(std::uint64_t{1});
  const std::uint64_t first = hasher.digest();
  EXPECT_EQ(hasher.digest(), first);
  hasher.add(std::uint64_t{2});
  EXPECT_EQ(hasher.digest(), Hasher().add(std::uint64_t{1}).add(std::uint64_t{2}).digest());
}

}  // namespace
}  // namespace calm::trace
