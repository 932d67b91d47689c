// codec.hpp — a trace as bytes and back: the binary form that tools store and exchange.
// Laws:    LAB-11 (the binary form), LAB-12 (XXH64, little-endian)
// Threads: pure functions
// Cancel:  not applicable
//
// All numbers are little-endian. Version 1:
//   byte 0        8 bytes   magic, the characters CALMTRC1
//   byte 8        4 bytes   version, 1
//   byte 12       4 bytes   event size, 64
//   byte 16       8 bytes   count of events, n
//   byte 24       8 bytes   overwritten, how many older events are not here
//   byte 32       64 n      events by strictly ascending sequence, each as Event lies in memory:
//                             +0 kind (1 byte), +1 access (1), +2 worker (2), +4 position (4), +8 sequence (8), +16 time in ns
//                             (8), +24 task (8), +32 region (8), +40 resource (8), +48 cause (8), +56 argument (8)
//   byte 32+64n   8 bytes   checksum, XXH64 with seed 0 of all bytes before it
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/trace/reader.hpp"

namespace calm::trace {

/// Needs: events as a recorder makes them, by ascending sequence.
/// Gives: the bytes of the trace. Fails: std::bad_alloc.
std::vector<std::byte> encode(const Trace& trace);

/// Needs: nothing; the bytes may come from anywhere. Nothing beyond them is read, and memory is taken only for events
///        that are there.
/// Gives: the trace that encode() gave these bytes for.
/// Fails: protocol, or unsupported for another version, with the field, its byte and what is wrong with it in the
///        message; std::bad_alloc.
Outcome<Trace> decode(std::span<const std::byte> bytes);

}  // namespace calm::trace
