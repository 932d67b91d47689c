#include "calm/trace/codec.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "calm/trace/bytes.hpp"
#include "calm/trace/hash.hpp"

namespace calm::trace {
namespace {

constexpr std::string_view magic = "CALMTRC1";
constexpr std::uint32_t version = 1;
constexpr std::size_t event_size = 64;

// Where the fields of the header begin.
constexpr std::size_t version_at = 8;
constexpr std::size_t event_size_at = 12;
constexpr std::size_t count_at = 16;
constexpr std::size_t overwritten_at = 24;
constexpr std::size_t events_at = 32;
constexpr std::size_t checksum_size = 8;

static_assert(magic.size() == version_at && sizeof(Event) == event_size);

/// What is wrong with a piece of input: which field, where it begins, and the fault.
struct Fault {
  std::string_view field;  // empty: nothing is wrong
  std::size_t byte = 0;
  std::string what;
};

Err<Error> error_of(const Fault& fault, Errc code = Errc::protocol) {
  return err(code,
             "trace field " + std::string(fault.field) + " at byte " + std::to_string(fault.byte) + ": " + fault.what);
}

struct Field {
  std::string_view name;
  std::size_t byte;
};
// The fields that a word of an event begins with; word 0 holds kind, access, worker and position.
constexpr Field word_fields[] = {{"kind", 0},    {"sequence", 8},  {"time", 16},  {"task", 24},
                                 {"region", 32}, {"resource", 40}, {"cause", 48}, {"argument", 56}};

// Gives: what makes these words no event that may follow the one with the sequence `before`.
Fault fault_of(const EventWords& words, std::uint64_t before) {
  const Event event = from_words(words);
  const auto kind = static_cast<std::uint8_t>(event.kind);
  if (find_event_kind(kind) == nullptr) return {"kind", 0, std::to_string(kind) + " is no kind of event"};
  const auto access = static_cast<std::uint8_t>(event.access);
  if (access > static_cast<std::uint8_t>(Access::write)) return {"access", 1, std::to_string(access) + " is no access"};
  if (event.sequence <= before) {
    return {"sequence", 8, std::to_string(event.sequence) + " does not follow " + std::to_string(before)};
  }
  if (event.cause >= event.sequence) {
    return {"cause", 48, std::to_string(event.cause) + " is not before the event " + std::to_string(event.sequence)};
  }
  const EventWords again = to_words(event);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (again[i] != words[i])
      return {word_fields[i].name, word_fields[i].byte, std::to_string(words[i]) + " cannot exist"};
  }
  return {};
}

EventWords load_words(const std::byte* from) noexcept {
  EventWords words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = load_little<std::uint64_t>(from + 8 * i);
  return words;
}

Fault header_fault(std::span<const std::byte> bytes) {
  const std::size_t shown = std::min(bytes.size(), magic.size());
  for (std::size_t i = 0; i < shown; ++i) {
    if (std::to_integer<char>(bytes[i]) != magic[i]) return {"magic", 0, "these bytes are no trace of calm"};
  }
  if (bytes.size() < events_at + checksum_size) {
    return {"header", 0, std::to_string(bytes.size()) + " bytes are too few, the smallest trace has 40"};
  }
  return {};
}

Fault length_fault(std::span<const std::byte> bytes) {
  const auto size = load_little<std::uint32_t>(&bytes[event_size_at]);
  if (size != event_size) return {"event size", event_size_at, std::to_string(size) + " is not 64"};
  const auto count = load_little<std::uint64_t>(&bytes[count_at]);
  const std::size_t room = bytes.size() - events_at - checksum_size;
  if (room % event_size != 0 || count != room / event_size) {
    return {"count", count_at,
            std::to_string(count) + " events do not take the " + std::to_string(room) + " bytes that are there"};
  }
  return {};
}

Fault checksum_fault(std::span<const std::byte> bytes) {
  const auto body = bytes.first(bytes.size() - checksum_size);
  if (load_little<std::uint64_t>(bytes.data() + body.size()) != xxh64(body)) {
    return {"checksum", body.size(), "the bytes before it have another one; they were damaged"};
  }
  return {};
}

}  // namespace

std::vector<std::byte> encode(const Trace& trace) {
  std::vector<std::byte> bytes(events_at + trace.events.size() * event_size + checksum_size);
  std::transform(magic.begin(), magic.end(), bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  store_little(&bytes[version_at], version);
  store_little(&bytes[event_size_at], static_cast<std::uint32_t>(event_size));
  store_little(&bytes[count_at], std::uint64_t{trace.events.size()});
  store_little(&bytes[overwritten_at], trace.overwritten);
  std::byte* at = bytes.data() + events_at;
  std::uint64_t before = 0;
  for (const Event& event : trace.events) {
    const EventWords words = to_words(event);
    const Fault fault = fault_of(words, before);
    CALM_REQUIRE(LAB_11, fault.field.empty(), fault.field, fault.what, event.sequence);
    before = event.sequence;
    for (const std::uint64_t word : words) {
      store_little(at, word);
      at += sizeof(word);
    }
  }
  const std::span<const std::byte> body(bytes.data(), bytes.size() - checksum_size);
  store_little(at, xxh64(body));
  return bytes;
}

Outcome<Trace> decode(std::span<const std::byte> bytes) {
  if (const Fault fault = header_fault(bytes); !fault.field.empty()) return error_of(fault);
  if (const auto number = load_little<std::uint32_t>(&bytes[version_at]); number != version) {
    return error_of({"version", version_at, std::to_string(number) + " is not 1"}, Errc::unsupported);
  }
  if (const Fault fault = length_fault(bytes); !fault.field.empty()) return error_of(fault);
  if (const Fault fault = checksum_fault(bytes); !fault.field.empty()) return error_of(fault);

  Trace trace;
  trace.overwritten = load_little<std::uint64_t>(&bytes[overwritten_at]);
  trace.events.reserve((bytes.size() - events_at - checksum_size) / event_size);
  std::uint64_t before = 0;
  for (std::size_t at = events_at; at + event_size < bytes.size(); at += event_size) {
    const EventWords words = load_words(&bytes[at]);
    if (Fault fault = fault_of(words, before); !fault.field.empty()) {
      fault.byte += at;
      return error_of(fault);
    }
    trace.events.push_back(from_words(words));
    before = trace.events.back().sequence;
  }
  return ok(std::move(trace));
}

}  // namespace calm::trace
