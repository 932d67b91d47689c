#include "calm/trace/forms.hpp"

#include <span>
#include <utility>

#include "calm/trace/codec.hpp"
#include "calm/trace/json.hpp"

namespace calm::trace {

Outcome<NamedTrace> read_trace(std::string_view bytes) {
  if (bytes.starts_with("CALMTRC")) {
    return decode(std::as_bytes(std::span(bytes))).map([](Trace trace) {
      return NamedTrace{.trace = std::move(trace), .names = {}};
    });
  }
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && bytes[first] == '{') return from_json(bytes);
  return err(Errc::protocol, "this is no trace of calm: it begins neither with CALMTRC1 nor with {");
}

}  // namespace calm::trace
