// fuzz_trace.cpp — decode() takes any bytes: it refuses them with a text, or gives a trace that encodes to the same bytes.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "calm/check/require.hpp"
#include "calm/trace/bytes.hpp"
#include "calm/trace/codec.hpp"
#include "calm/trace/hash.hpp"
#include "calm/trace/text.hpp"

namespace calm::trace {
namespace {

constexpr std::size_t frame_bytes = 40;  // what stands around the events: header and digest
constexpr std::size_t event_bytes = 64;

/// Makes the frame right, so that the fuzzer reaches the events behind it without having to guess a digest.
void repair_frame(std::vector<std::byte>& bytes) {
  bytes.resize(frame_bytes + (bytes.size() - frame_bytes) / event_bytes * event_bytes);
  std::memcpy(bytes.data(), "CALMTRC1", 8);
  store_little(&bytes[8], std::uint32_t{1});
  store_little(&bytes[12], static_cast<std::uint32_t>(event_bytes));
  store_little(&bytes[16], static_cast<std::uint64_t>((bytes.size() - frame_bytes) / event_bytes));
  const std::size_t digest = bytes.size() - 8;
  store_little(&bytes[digest], xxh64(std::span<const std::byte>(bytes).first(digest)));
}

void decode_and_compare(const std::vector<std::byte>& bytes) {
  const Outcome<Trace> trace = decode(bytes);
  if (trace.is_err()) {
    CALM_INVARIANT(LAB_11, !trace.error().message().empty());
    return;
  }
  CALM_INVARIANT(LAB_11, encode(trace.value()) == bytes, bytes.size());
  for (const Event& event : trace.value().events) CALM_INVARIANT(LAB_11, !to_string(event).empty());
}

}  // namespace
}  // namespace calm::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::uint8_t> input(data, size);
  std::vector<std::byte> bytes(size);
  if (size != 0) std::memcpy(bytes.data(), input.data(), size);
  const bool whole = size >= calm::trace::frame_bytes && (input.back() & 1U) != 0;
  if (whole) calm::trace::repair_frame(bytes);
  calm::trace::decode_and_compare(bytes);
  return 0;
}
