// generators.hpp — random values of the model for property tests. Domains are small on purpose: laws break at ties.
#pragma once

#include <rapidcheck.h>

#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "calm/calm.hpp"
#include "tests/show.hpp"

namespace calm::lawtest {

/// One level of a story to be built, the root cause first.
struct Link {
  CancelKind kind;
  std::uint32_t region;  // 0: none
  std::uint32_t task;    // 0: none
  std::uint64_t at;
  std::string message;
  std::int64_t cleanup_seconds = 5;
};

inline RegionId region_id(std::uint32_t number) { return number == 0 ? RegionId() : RegionId(number, Generation()); }
inline TaskId task_id(std::uint32_t number) { return number == 0 ? TaskId() : TaskId(number, Generation()); }

inline Reason build(const std::vector<Link>& links) {
  Reason reason;
  for (const Link& link : links) {
    const Reason cause = reason;
    reason = Reason({.kind = link.kind,
                     .region = region_id(link.region),
                     .task = task_id(link.task),
                     .at = Time::at_ns(link.at),
                     .message = link.message,
                     .cause = cause ? &cause : nullptr,
                     .cleanup_time = Duration::seconds(link.cleanup_seconds)});
  }
  return reason;
}

inline const std::vector<std::exception_ptr>& exceptions() {
  static const std::vector<std::exception_ptr> all = {std::make_exception_ptr(std::runtime_error("first")),
                                                      std::make_exception_ptr(std::logic_error("second"))};
  return all;
}

inline const std::vector<Note>& some_notes() {
  static const std::vector<Note> all = {Note(OutcomeKind::err, "slow"), Note(OutcomeKind::ok, "fine"),
                                        Note("loser", Panic(exceptions()[0]))};
  return all;
}

}  // namespace calm::lawtest

namespace rc {

template <>
struct Arbitrary<calm::Duration> {
  static Gen<calm::Duration> arbitrary() {
    return gen::map(gen::oneOf(gen::arbitrary<std::int64_t>(), gen::inRange<std::int64_t>(-3, 4),
                               gen::element<std::int64_t>(INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX)),
                    [](std::int64_t ns) { return calm::Duration::nanoseconds(ns); });
  }
};

template <>
struct Arbitrary<calm::Time> {
  static Gen<calm::Time> arbitrary() {
    return gen::map(gen::oneOf(gen::arbitrary<std::uint64_t>(), gen::inRange<std::uint64_t>(0, 4),
                               gen::element<std::uint64_t>(UINT64_MAX - 1, UINT64_MAX - 2)),
                    [](std::uint64_t ns) { return calm::Time::at_ns(ns == UINT64_MAX ? 0 : ns); });
  }
};

template <>
struct Arbitrary<calm::Deadline> {
  static Gen<calm::Deadline> arbitrary() {
    return gen::oneOf(gen::map(gen::arbitrary<calm::Time>(), [](calm::Time at) { return calm::Deadline(at); }),
                      gen::just(calm::Deadline::none()));
  }
};

template <>
struct Arbitrary<calm::Quota> {
  static Gen<calm::Quota> arbitrary() {
    return gen::oneOf(
        gen::map(gen::oneOf(gen::inRange<std::uint64_t>(0, 4), gen::inRange<std::uint64_t>(0, UINT64_MAX)),
                 [](std::uint64_t count) { return calm::Quota(count); }),
        gen::just(calm::Quota::infinite()));
  }
};

template <>
struct Arbitrary<calm::Budget> {
  static Gen<calm::Budget> arbitrary() {
    return gen::apply(
        [](calm::Deadline deadline, calm::Quota polls, calm::Quota cost, std::uint8_t priority) {
          return calm::Budget{.deadline = deadline, .polls = polls, .cost = cost, .priority = priority};
        },
        gen::arbitrary<calm::Deadline>(), gen::arbitrary<calm::Quota>(), gen::arbitrary<calm::Quota>(),
        gen::arbitrary<std::uint8_t>());
  }
};

template <>
struct Arbitrary<calm::CancelKind> {
  static Gen<calm::CancelKind> arbitrary() {
    return gen::map(gen::inRange<int>(0, calm::cancel_kind_count),
                    [](int i) { return static_cast<calm::CancelKind>(i); });
  }
};

template <>
struct Arbitrary<calm::lawtest::Link> {
  static Gen<calm::lawtest::Link> arbitrary() {
    const auto message = gen::weightedOneOf<std::string>({
        {6, gen::element<std::string>("", "a", "b")},
        {1, gen::map(gen::inRange<std::size_t>(200, 5000), [](std::size_t size) { return std::string(size, 'm'); })},
    });
    return gen::apply(
        [](calm::CancelKind kind, std::uint32_t region, std::uint32_t task, std::uint64_t at, std::string text,
           std::int64_t cleanup_seconds) {
          return calm::lawtest::Link{kind, region, task, at, std::move(text), cleanup_seconds};
        },
        gen::arbitrary<calm::CancelKind>(), gen::inRange(0U, 3U), gen::inRange(0U, 3U),
        gen::inRange<std::uint64_t>(0, 3), message, gen::element<std::int64_t>(1, 5));
  }
};

template <>
struct Arbitrary<calm::Reason> {
  static Gen<calm::Reason> arbitrary() {
    return gen::mapcat(
        gen::weightedElement<std::size_t>({{4, 1}, {3, 2}, {2, 4}, {1, 15}, {1, 16}, {1, 17}, {1, 24}}),
        [](std::size_t depth) {
          return gen::map(
              gen::container<std::vector<calm::lawtest::Link>>(depth, gen::arbitrary<calm::lawtest::Link>()),
              [](const std::vector<calm::lawtest::Link>& links) { return calm::lawtest::build(links); });
        });
  }
};

template <>
struct Arbitrary<calm::Outcome<int>> {
  static Gen<calm::Outcome<int>> arbitrary() {
    using End = calm::Outcome<int>;
    const auto plain = gen::oneOf(
        gen::map(gen::inRange(0, 3), [](int value) { return End(calm::ok(value)); }),
        gen::map(gen::element(calm::Errc::full, calm::Errc::empty),
                 [](calm::Errc code) { return End(calm::err(code)); }),
        gen::map(gen::arbitrary<calm::Reason>(),
                 [](const calm::Reason& reason) { return End(calm::cancelled(reason)); }),
        gen::map(gen::element(0U, 1U), [](unsigned i) { return End(calm::panicked(calm::lawtest::exceptions()[i])); }));
    const auto notes = gen::container<std::vector<unsigned>>(gen::inRange(0U, 3U));
    return gen::apply(
        [](End end, const std::vector<unsigned>& picked) {
          for (const unsigned i : picked) end.add_note(calm::lawtest::some_notes()[i]);
          return end;
        },
        plain, notes);
  }
};

}  // namespace rc
