// The way of the standard library: a list of shared stories, each with a std::string. No limit of depth and bytes.
#include <algorithm>
#include <compare>
#include <memory>
#include <string>
#include <utility>

#include "bench/reason/workload.hpp"

namespace {

struct Story;
using Link = std::shared_ptr<const Story>;

struct Cleanup {
  std::uint64_t deadline_ns;
  std::uint64_t polls;
  std::uint8_t priority;

  friend bool operator==(const Cleanup&, const Cleanup&) = default;
};

struct Story {
  calm::CancelKind kind;
  std::uint8_t severity;
  std::uint32_t region;
  std::uint64_t at_ns;
  std::string message;
  Cleanup cleanup;
  Link cause;
};

Cleanup meet(const Cleanup& a, const Cleanup& b) {
  return {std::min(a.deadline_ns, b.deadline_ns), std::min(a.polls, b.polls), std::max(a.priority, b.priority)};
}

Link make(const bench::Request& request, Link cause) {
  const calm::CancelKindRow& row = calm::describe(request.kind);
  const std::uint64_t cleanup_ns = static_cast<std::uint64_t>(calm::default_cleanup_time.ns());
  Story story{.kind = request.kind,
              .severity = row.severity,
              .region = request.region,
              .at_ns = request.at_ns,
              .message = std::string(request.message),
              .cleanup = {request.at_ns + cleanup_ns, row.cleanup_polls, row.cleanup_priority},
              .cause = std::move(cause)};
  if (story.cause) {
    story.severity = std::max(story.severity, story.cause->severity);
    story.cleanup = meet(story.cleanup, story.cause->cleanup);
  }
  return std::make_shared<const Story>(std::move(story));
}

std::strong_ordering compare(const Story& a, const Story& b) {
  if (auto order = b.severity <=> a.severity; order != 0) return order;
  if (auto order = a.at_ns <=> b.at_ns; order != 0) return order;
  if (auto order = a.message.empty() <=> b.message.empty(); order != 0) return order;
  if (auto order = a.message <=> b.message; order != 0) return order;
  if (auto order = a.kind <=> b.kind; order != 0) return order;
  return a.region <=> b.region;
}

bool is_stronger(const Story* a, const Story* b) {
  for (; a != nullptr && b != nullptr; a = a->cause.get(), b = b->cause.get()) {
    if (auto order = compare(*a, *b); order != 0) return order < 0;
  }
  return a != nullptr;
}

Link strengthen(const Link& a, const Link& b) {
  const Cleanup cleanup = meet(a->cleanup, b->cleanup);
  const Link& stronger = is_stronger(a.get(), b.get()) ? a : b;
  if (stronger->cleanup == cleanup) return stronger;
  Story story = *stronger;
  story.cleanup = cleanup;
  return std::make_shared<const Story>(std::move(story));
}

bench::Told tell(const Link& reason) {
  bench::Told told{.severity = reason->severity,
                   .depth = 0,
                   .deadline_ns = reason->cleanup.deadline_ns,
                   .polls = reason->cleanup.polls,
                   .message_bytes = 0};
  for (const Story* level = reason.get(); level != nullptr; level = level->cause.get()) {
    ++told.depth;
    told.message_bytes += level->message.size();
  }
  return told;
}

bench::Told cancel(const bench::Case& one) {
  std::array<Link, bench::levels + 1> kept;
  kept[0] = make(one.root, nullptr);
  for (std::uint32_t level = 1; level <= bench::levels; ++level) {
    const bench::Request request{calm::CancelKind::parent_cancelled, level, kept[0]->at_ns, {}};
    kept[level] = make(request, kept[level - 1]);
  }
  Link strongest = kept[bench::levels];
  for (const bench::Request& rival : one.rival) strongest = strengthen(strongest, make(rival, nullptr));
  return tell(strongest);
}

}  // namespace

int main() { return bench::measure_cancellations(cancel); }
