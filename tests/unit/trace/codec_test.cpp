#include "calm/trace/codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "calm/trace/bytes.hpp"
#include "calm/trace/hash.hpp"
#include "tests/unit/trace/events.hpp"

namespace calm::trace {
namespace {

using Bytes = std::vector<std::byte>;

Trace three_events() {
  Trace trace{.overwritten = 2, .events = {}};
  for (const std::uint64_t number : {4U, 5U, 9U}) trace.events.push_back(patterned(number));
  return trace;
}

/// Puts a number at a byte and makes the checksum right again: only the field itself is wrong now.
template <class Number>
Bytes forged(Bytes bytes, std::size_t at, Number number) {
  store_little(&bytes[at], number);
  store_little(&bytes[bytes.size() - 8], xxh64(std::span<const std::byte>(bytes).first(bytes.size() - 8)));
  return bytes;
}

std::string message_of(const Outcome<Trace>& decoded) {
  return decoded.is_err() ? to_string(decoded.error()) : "decoded without error";
}

// LAB-11
RC_GTEST_PROP(Codec, gives_back_every_trace_it_was_given, ()) {
  const Trace trace = *any_trace();
  const auto decoded = decode(encode(trace));
  RC_ASSERT(decoded.is_ok());
  RC_ASSERT(decoded.value() == trace);
  RC_ASSERT(trace_digest(decoded.value()) == trace_digest(trace));
}

TEST(Codec, has_the_documented_layout) {
  const Bytes bytes = encode(three_events());
  ASSERT_EQ(bytes.size(), 32U + 3 * 64 + 8);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(bytes.data()), 8), "CALMTRC1");
  EXPECT_EQ(load_little<std::uint32_t>(&bytes[8]), 1U);
  EXPECT_EQ(load_little<std::uint32_t>(&bytes[12]), 64U);
  EXPECT_EQ(load_little<std::uint64_t>(&bytes[16]), 3U);
  EXPECT_EQ(load_little<std::uint64_t>(&bytes[24]), 2U);
  EXPECT_EQ(std::to_integer<int>(bytes[32]), static_cast<int>(patterned(4).kind));
  EXPECT_EQ(load_little<std::uint64_t>(&bytes[40]), patterned(4).sequence);
  EXPECT_EQ(load_little<std::uint64_t>(&bytes[32 + 64 + 56]), patterned(5).argument);
}

TEST(Codec, writes_the_same_bytes_on_every_machine) {
  EXPECT_EQ(xxh64(encode(three_events())), 0x5634253FEB2FA7F4U);
  EXPECT_EQ(xxh64(encode(Trace())), 0x71EC4B920EFDD7E2U);
}

TEST(Codec, finds_every_changed_byte) {
  const Bytes whole = encode(three_events());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bytes = whole;
      bytes[at] ^= static_cast<std::byte>(1 << bit);
      const auto decoded = decode(bytes);
      ASSERT_TRUE(decoded.is_err()) << "byte " << at << ", bit " << bit;
      const bool version = at >= 8 && at < 12;
      EXPECT_EQ(decoded.error().code(), version ? Errc::unsupported : Errc::protocol) << message_of(decoded);
    }
  }
}

TEST(Codec, finds_every_missing_and_every_extra_byte) {
  const Bytes whole = encode(three_events());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Bytes exact(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));  // ASan sees a read beyond it
    EXPECT_TRUE(decode(exact).is_err()) << size;
  }
  for (const std::size_t extra : {1U, 8U, 64U}) {
    Bytes longer = whole;
    longer.resize(whole.size() + extra);
    EXPECT_TRUE(decode(longer).is_err()) << extra;
  }
}

TEST(Codec, names_the_field_and_its_byte) {
  const Bytes whole = encode(three_events());
  const auto message = [&whole](std::size_t at, auto number) { return message_of(decode(forged(whole, at, number))); };
  using Byte = std::uint8_t;
  using Word = std::uint64_t;
  EXPECT_EQ(message(0, Byte{'X'}), "protocol: trace field magic at byte 0: these bytes are no trace of calm");
  EXPECT_EQ(message(8, Byte{2}), "unsupported: trace field version at byte 8: 2 is not 1");
  EXPECT_EQ(message(12, Byte{48}), "protocol: trace field event size at byte 12: 48 is not 64");
  EXPECT_EQ(message(16, Word{4}),
            "protocol: trace field count at byte 16: 4 events do not take the 192 bytes that are there");
  EXPECT_EQ(message(32, Byte{0}), "protocol: trace field kind at byte 32: 0 is no kind of event");
  EXPECT_EQ(message(32 + 64, Byte{18}), "protocol: trace field kind at byte 96: 18 is no kind of event");
  EXPECT_EQ(message(33, Byte{3}), "protocol: trace field access at byte 33: 3 is no access");
  EXPECT_EQ(message(40, Word{0}), "protocol: trace field sequence at byte 40: 0 does not follow 0");
  EXPECT_EQ(message(40 + 64, Word{5}), "protocol: trace field sequence at byte 104: 5 does not follow 5");
  EXPECT_EQ(message(48, UINT64_MAX), "protocol: trace field time at byte 48: 18446744073709551615 cannot exist");
  EXPECT_EQ(message(56, Word{7}), "protocol: trace field task at byte 56: 7 cannot exist");
  EXPECT_EQ(message(64, Word{7}), "protocol: trace field region at byte 64: 7 cannot exist");
  EXPECT_EQ(message(72, Word{7}), "protocol: trace field resource at byte 72: 7 cannot exist");
  EXPECT_EQ(message(80, Word{5}), "protocol: trace field cause at byte 80: 5 is not before the event 5");
  EXPECT_EQ(message_of(decode(Bytes(39))), "protocol: trace field magic at byte 0: these bytes are no trace of calm");
  EXPECT_EQ(message_of(decode(Bytes(whole.begin(), whole.begin() + 39))),
            "protocol: trace field header at byte 0: 39 bytes are too few, the smallest trace has 40");
  EXPECT_EQ(message_of(decode({})),
            "protocol: trace field header at byte 0: 0 bytes are too few, the smallest trace has 40");
}

TEST(Codec, does_not_believe_a_count) {
  const Bytes whole = encode(three_events());
  // Also a count whose product with the event size wraps to the true length.
  for (const std::uint64_t count : {std::uint64_t{0}, std::uint64_t{2}, (std::uint64_t{1} << 58) + 3, UINT64_MAX}) {
    EXPECT_TRUE(decode(forged(whole, 16, count)).is_err()) << count;
  }
}

RC_GTEST_PROP(Codec, answers_any_bytes_and_accepts_only_what_it_would_write, (std::vector<std::uint8_t> noise)) {
  Bytes bytes = encode(three_events());
  for (const std::uint8_t at : noise) bytes[at % bytes.size()] ^= static_cast<std::byte>(at);
  bytes = forged(bytes, bytes.size() - 16, load_little<std::uint64_t>(&bytes[bytes.size() - 16]));
  if (const auto decoded = decode(bytes); decoded.is_ok()) RC_ASSERT(encode(decoded.value()) == bytes);
  RC_ASSERT(decode(std::as_bytes(std::span(noise))).is_err());
}

}  // namespace
}  // namespace calm::trace
