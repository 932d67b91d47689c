#include "calm/clock/wheel.hpp"

#include <algorithm>
#include <bit>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"

namespace calm::clock {
namespace {

constexpr std::uint64_t level_bits = 8;

/// Gives: the level for an alarm so many ticks away.
constexpr std::uint64_t level_for(std::uint64_t ticks) noexcept {
  return (static_cast<std::uint64_t>(std::bit_width(ticks | 0xFF)) - 1) / level_bits;
}
static_assert(level_for(0) == 0 && level_for(255) == 0 && level_for(256) == 1, "TMR-1: 256 ms");
static_assert(level_for(65'535) == 1 && level_for(65'536) == 2, "TMR-1: 65.536 s");
static_assert(level_for(16'777'215) == 2 && level_for(16'777'216) == 3, "TMR-1: 16 777.216 s");

/// The slot that a level is at holds alarms of the next turn, if any: who looks from the first number that is still to come
/// looks at every slot once.
constexpr std::uint64_t first_number(std::uint64_t tick, std::uint64_t level) noexcept {
  return (tick >> (level_bits * level)) + 1;
}

std::uint64_t count(const Alarm* first) noexcept {
  std::uint64_t number = 0;
  if (const Alarm* alarm = first) {
    do {
      ++number;
      alarm = alarm->after;
    } while (alarm != first);
  }
  return number;
}

/// Gives: when the first of a ring goes off. Needs: not empty.
std::uint64_t earliest(const Alarm* first) noexcept {
  std::uint64_t at_ns = first->at.ns();
  for (const Alarm* alarm = first->after; alarm != first; alarm = alarm->after) at_ns = std::min(at_ns, alarm->at.ns());
  return at_ns;
}

}  // namespace

Wheel::Wheel(Coalescing coalescing) noexcept : coalescing_(coalescing) {
  CALM_REQUIRE(TMR_6, coalescing.window >= Duration(), coalescing.window.ns());
}

void Wheel::file(Alarm& alarm) noexcept {
  if (alarm.at.ns() <= now_ns_) {
    make_due(alarm);
    return;
  }
  const std::uint64_t tick = tick_of(alarm.at);
  const std::uint64_t away = tick - tick_;
  if (away == 0) {
    alarm.level = present_level;
    present_.add(piece_of(alarm.at.ns()), alarm);
    return;
  }
  if (away > wheel_ticks) {
    alarm.level = overflow_level;
    overflow_.add(tick >> bucket_bits, alarm);
    return;
  }
  const std::uint64_t level = level_for(away);
  alarm.level = static_cast<std::uint8_t>(level);
  levels_[level].add(tick >> (level_bits * level), alarm);
}

void Wheel::make_due(Alarm& alarm) noexcept {
  alarm.level = due_level;
  if (due_ != nullptr && goes_off_before(alarm, *due_->before)) due_is_sorted_ = false;
  ring::append(due_, alarm);
}

bool Wheel::disarm(Alarm& alarm) noexcept {
  if (!alarm.state.cancel()) return false;
  if (alarm.level < levels_.size()) {
    levels_[alarm.level].remove(alarm);
  } else if (alarm.level == present_level) {
    present_.remove(alarm);
  } else if (alarm.level == overflow_level) {
    overflow_.remove(alarm);
  } else {
    ring::remove(alarm.level == due_level ? due_ : held_, alarm);
  }
  if (--size_ == 0) {
    look_ns_ = held_until_ = none;  // TMR-5
    group_is_formed_ = false;
  }
  return true;
}

/// Takes out what time has come to, in every level at once whatever the jump, and files it anew.
void Wheel::turn(Time now) noexcept {
  CALM_REQUIRE(TMR_3, now.ns() >= now_ns_, now.ns(), now_ns_);
  const std::uint64_t to = tick_of(now);
  Alarm* moved = nullptr;
  for (std::uint64_t level = levels_.size() - 1; level > 0; --level) {
    const std::uint64_t number = tick_ >> (level_bits * level);
    levels_[level].take(number + 1, (to >> (level_bits * level)) - number, moved);
  }
  levels_[0].take(tick_ + 1, to - tick_, moved);
  present_.take(piece_of(now_ns_), piece_of(now.ns()) - piece_of(now_ns_) + 1, moved);
  const std::uint64_t promoted = first_bucket_beyond(tick_);
  overflow_.take(promoted, first_bucket_beyond(to) - promoted, moved);
  tick_ = to;
  now_ns_ = now.ns();
  while (moved != nullptr) {
    Alarm& alarm = ring::take_first(moved);
    const std::uint64_t end = window_end(alarm.at.ns());
    if (alarm.at <= now && end > now_ns_) {
      hold(alarm, end);
    } else {
      file(alarm);
    }
  }
  if (held_ != nullptr) settle_held();
  look_ns_ = earliest_look();
}

/// Gives: when an alarm for that time goes off if its group is complete; that time itself without coalescing.
std::uint64_t Wheel::window_end(std::uint64_t at_ns) const noexcept {
  const auto window = static_cast<std::uint64_t>(coalescing_.window.ns());
  if (window == 0 || at_ns % window == 0) return at_ns;
  return (Time::at_ns(at_ns - at_ns % window) + coalescing_.window).ns();
}

/// All that is held at one time is of the one window that this time is in.
void Wheel::hold(Alarm& alarm, std::uint64_t end_ns) noexcept {
  if (held_until_ != end_ns) {
    while (held_ != nullptr) make_due(ring::take_first(held_));
    held_until_ = end_ns;
    group_is_formed_ = false;
  }
  alarm.level = held_level;
  ring::append(held_, alarm);
}

void Wheel::settle_held() noexcept {
  if (now_ns_ < held_until_) {
    group_is_formed_ = group_is_formed_ || group_is_complete();
    if (group_is_formed_) return;
  }
  CALM_PROBE("wheel: a window ends");
  while (held_ != nullptr) make_due(ring::take_first(held_));
  if (now_ns_ >= held_until_) held_until_ = none;
}

bool Wheel::group_is_complete() const noexcept {
  std::uint64_t group = count(held_);
  visit_slots(held_until_ / tick_ns, [&](const Alarm& alarm) {
    if (alarm.at.ns() <= held_until_) ++group;
    return group < coalescing_.group_min;
  });
  return group >= coalescing_.group_min;
}

template <class Visit>
void Wheel::visit_slots(std::uint64_t until_tick, const Visit& visit) const {
  const auto visit_all = [&visit](const Slots<256>& slots, std::uint64_t number, std::uint64_t until) {
    for (std::uint64_t i = slots.distance(number); i < 256 && number + i <= until;) {
      const Alarm* const first = slots.first(number + i);
      const Alarm* alarm = first;
      do {
        if (!visit(*alarm)) return false;
        alarm = alarm->after;
      } while (alarm != first);
      i += 1 + slots.distance(number + i + 1);
    }
    return true;
  };
  if (!visit_all(present_, piece_of(now_ns_), UINT64_MAX)) return;
  for (std::uint64_t level = 0; level < levels_.size(); ++level) {
    if (!visit_all(levels_[level], first_number(tick_, level), until_tick >> (level_bits * level))) return;
  }
}

Alarm* Wheel::unlink_due(Time now) noexcept {
  if (now.ns() >= look_ns_) turn(now);
  if (!due_is_sorted_) {
    ring::sort(due_);
    due_is_sorted_ = true;
  }
  if (due_ == nullptr) return nullptr;
  Alarm& alarm = ring::take_first(due_);
  --size_;
  return &alarm;
}

/// Gives: the earliest time that something may be due or must move: exactly for alarms of the present millisecond, or else of
///        the next filled slot of level 0; for others when the slot begins.
std::uint64_t Wheel::earliest_look() const noexcept {
  std::uint64_t look = held_ == nullptr ? none : held_until_;
  if (const std::uint64_t away = present_.distance(piece_of(now_ns_)); away < 256)
    return std::min(look, earliest(present_.first(piece_of(now_ns_) + away)));
  if (const std::uint64_t away = levels_[0].distance(tick_ + 1); away < 256)
    look = std::min(look, earliest(levels_[0].first(tick_ + 1 + away)));
  for (std::uint64_t level = 1; level < levels_.size(); ++level) {
    const std::uint64_t number = first_number(tick_, level);
    const std::uint64_t away = levels_[level].distance(number);
    if (away < 256) look = std::min(look, ((number + away) << (level_bits * level)) * tick_ns);
  }
  const std::uint64_t bucket = first_bucket_beyond(tick_);
  if (const std::uint64_t away = overflow_.distance(bucket); away < 64) {
    look = std::min(look, (((bucket + away + 1) << bucket_bits) - wheel_ticks - 1) * tick_ns);
  }
  return look;
}

Time Wheel::next() const noexcept {
  CALM_REQUIRE(TMR_3, size_ != 0);
  std::uint64_t next = held_ == nullptr ? none : held_until_;
  if (due_ != nullptr) next = std::min(next, earliest(due_));
  if (const std::uint64_t away = present_.distance(piece_of(now_ns_)); away < 256)
    next = std::min(next, earliest(present_.first(piece_of(now_ns_) + away)));
  for (std::uint64_t level = 0; level < levels_.size(); ++level) {
    const std::uint64_t number = first_number(tick_, level);
    const std::uint64_t away = levels_[level].distance(number);
    if (away < 256 && (number + away) << (level_bits * level) <= next / tick_ns) {
      next = std::min(next, earliest(levels_[level].first(number + away)));
    }
  }
  // An alarm that came to the heap long ago may be earlier than one that came to the wheel just now.
  const std::uint64_t bucket = first_bucket_beyond(tick_);
  const std::uint64_t away = overflow_.distance(bucket);
  if (away < 64 && (bucket + away) << bucket_bits <= next / tick_ns)
    next = std::min(next, earliest(overflow_.first(bucket + away)));
  return Time::at_ns(next);
}

WheelCensus Wheel::census() const noexcept {
  WheelCensus census{.due = count(due_), .held = count(held_)};
  for (std::uint64_t slot = 0; slot < 256; ++slot) {
    census.levels[0] += count(present_.first(slot));
    for (std::uint64_t level = 0; level < levels_.size(); ++level)
      census.levels[level] += count(levels_[level].first(slot));
  }
  for (std::uint64_t bucket = 0; bucket < 64; ++bucket) census.overflow += count(overflow_.first(bucket));
  return census;
}

void Wheel::verify() const noexcept {
  const WheelCensus all = census();
  const std::uint64_t counted =
      all.levels[0] + all.levels[1] + all.levels[2] + all.levels[3] + all.overflow + all.due + all.held;
  CALM_INVARIANT(TMR_5, counted == size_, counted, size_);
  CALM_INVARIANT(TMR_1, tick_ == now_ns_ / tick_ns, tick_, now_ns_);
  std::uint64_t reached = 0;
  visit_slots(UINT64_MAX, [&](const Alarm& alarm) {
    const std::uint64_t level = alarm.level;
    const std::uint64_t tick = tick_of(alarm.at);
    if (tick == tick_) {
      CALM_INVARIANT(TMR_1, level == present_level && alarm.slot == (piece_of(alarm.at.ns()) & 0xFF), level,
                     alarm.slot);
    } else {
      CALM_INVARIANT(TMR_1, level < 4 && alarm.slot == ((tick >> (level_bits * level)) & 0xFF), level, alarm.slot,
                     tick);
      CALM_INVARIANT(TMR_1, tick - tick_ < std::uint64_t{1} << (level_bits * (level + 1)), level, tick, tick_);
      CALM_INVARIANT(TMR_2, tick - tick_ <= wheel_ticks, tick, tick_);
    }
    CALM_INVARIANT(TMR_3, alarm.is_armed() && alarm.at.ns() > now_ns_, alarm.at.ns(), now_ns_);
    ++reached;
    return true;
  });
  CALM_INVARIANT(TMR_1, reached == counted - all.overflow - all.due - all.held, reached);
  CALM_INVARIANT(TMR_3, size_ == 0 || due_ != nullptr || look_ns_ <= next().ns(), look_ns_, size_);
}

}  // namespace calm::clock
