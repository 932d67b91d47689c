// fuzz_trace_json.cpp — from_json() takes any text: it refuses it with a place, or gives a trace that writes and reads the same.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "calm/check/require.hpp"
#include "calm/trace/codec.hpp"
#include "calm/trace/json.hpp"

namespace calm::trace {
namespace {

void read_and_compare(std::string_view text) {
  const Outcome<NamedTrace> read = from_json(text);
  if (read.is_err()) {
    CALM_INVARIANT(LAB_11, read.error().message().starts_with("trace line "));
    return;
  }
  const NamedTrace& named = read.value();
  CALM_INVARIANT(LAB_11, from_json(to_json(named.trace, named.names)).value() == named, text.size());
  CALM_INVARIANT(LAB_11, decode(encode(named.trace)).value() == named.trace, text.size());
}

}  // namespace
}  // namespace calm::trace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  calm::trace::read_and_compare(input);
  // The same as the events and names of a trace whose head is right: the fuzzer need not guess that.
  calm::trace::read_and_compare(R"({"format": "calm-trace", "version": 1, "overwritten": 0, "events": [)" + input);
  return 0;
}
