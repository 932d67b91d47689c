#include "tests/explore/straight_line.hpp"

#include <map>
#include <utility>

#include "calm/model/split_mix.hpp"

namespace calm::explore {
namespace {

constexpr std::uint32_t first_lock = 8;
constexpr std::uint32_t locks = 2;

/// Small numbers from a seed.
class Numbers {
 public:
  explicit Numbers(std::uint64_t seed) noexcept : numbers_(seed) {}
  std::uint32_t below(std::uint32_t limit) noexcept {
    return static_cast<std::uint32_t>(numbers_.next() >> 16U) % limit;
  }

 private:
  SplitMix numbers_;
};

Operation random_access(Numbers& numbers, std::uint32_t places) {
  Operation operation;
  const std::uint32_t count = numbers.below(4) == 0 ? 2 : 1;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t place = numbers.below(places);
    operation.touches.push_back(numbers.below(2) == 0 ? Touch::read(place) : Touch::write(place));
  }
  operation.free = numbers.below(3) == 0;
  return operation;
}

/// What the oracle knows of a moment: how far everyone is, and who sleeps.
struct Moment {
  std::vector<std::uint8_t> at;
  std::uint64_t asleep = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

class Oracle {
 public:
  explicit Oracle(const StraightLine& program) : program_(program) {}

  std::uint64_t count(const Moment& moment) {
    const auto known = counts_.find(moment);
    if (known != counts_.end()) return known->second;
    const std::uint64_t result = count_new(moment);
    counts_.emplace(moment, result);
    return result;
  }

 private:
  std::uint64_t count_new(const Moment& moment) {
    const std::size_t size = program_.processes.size();
    std::uint64_t sum = 0;
    std::uint64_t asleep = moment.asleep;
    bool anyone = false;
    for (std::size_t p = 0; p < size; ++p) {
      const Operation* const next = next_of(moment, p);
      if (next == nullptr || !can_run(moment, *next)) continue;
      anyone = true;
      if ((asleep >> p & 1U) != 0) continue;
      Moment after = moment;
      ++after.at[p];
      after.asleep = 0;
      for (std::size_t q = 0; q < size; ++q) {
        const Operation* const other = next_of(moment, q);
        if ((asleep >> q & 1U) != 0 && other != nullptr && !conflict(*next, *other))
          after.asleep |= std::uint64_t{1} << q;
      }
      sum += count(after);
      asleep |= std::uint64_t{1} << p;
    }
    return anyone ? sum : 1;
  }

  [[nodiscard]] const Operation* next_of(const Moment& moment, std::size_t p) const {
    return moment.at[p] == program_.processes[p].size() ? nullptr : &program_.processes[p][moment.at[p]];
  }
  /// A lock is free unless some process is between taking and freeing it.
  [[nodiscard]] bool can_run(const Moment& moment, const Operation& operation) const {
    if (operation.kind != Operation::Kind::lock) return true;
    for (std::size_t p = 0; p < program_.processes.size(); ++p) {
      int held = 0;
      for (std::size_t i = 0; i < moment.at[p]; ++i) {
        const Operation& done = program_.processes[p][i];
        if (done.kind == Operation::Kind::access || done.touches[0] != operation.touches[0]) continue;
        held += done.kind == Operation::Kind::lock ? 1 : -1;
      }
      if (held != 0) return false;
    }
    return true;
  }
  static bool conflict(const Operation& a, const Operation& b) {
    for (const Touch x : a.touches) {
      for (const Touch y : b.touches) {
        if (x.location() == y.location() && (x.is_write() || y.is_write())) return true;
      }
    }
    return false;
  }

  const StraightLine& program_;
  std::map<Moment, std::uint64_t> counts_;
};

}  // namespace

StraightLine random_program(std::uint64_t seed) {
  Numbers numbers(seed);
  StraightLine program;
  const std::uint32_t processes = 2 + numbers.below(3);
  const std::uint32_t places = 1 + numbers.below(3);
  const bool with_locks = numbers.below(3) == 0;
  for (std::uint32_t p = 0; p < processes; ++p) {
    std::vector<Operation>& operations = program.processes.emplace_back();
    const std::uint32_t length = 1 + numbers.below(processes == 4 ? 3 : 4);
    for (std::uint32_t i = 0; i < length; ++i) operations.push_back(random_access(numbers, places));
    if (!with_locks) continue;
    // One or two locks around a part of it; the second one is taken inside of the first.
    const std::uint32_t nested = 1 + numbers.below(locks);
    std::uint32_t lock = numbers.below(locks);
    for (std::uint32_t depth = 0; depth < nested; ++depth, lock = (lock + 1) % locks) {
      const std::vector<Touch> touches{Touch::write(first_lock + lock)};
      operations.insert(operations.begin() + depth, {Operation::Kind::lock, touches, true});
      operations.push_back({Operation::Kind::unlock, touches, false});
    }
  }
  return program;
}

std::string to_string(const StraightLine& program) {
  std::string text;
  for (std::size_t p = 0; p < program.processes.size(); ++p) {
    text += "p" + std::to_string(p) + ":";
    for (const Operation& operation : program.processes[p]) {
      text += operation.kind == Operation::Kind::lock     ? " lock"
              : operation.kind == Operation::Kind::unlock ? " unlock"
              : operation.touches.size() > 1              ? " ("
                                                          : " ";
      for (const Touch touch : operation.touches) {
        text += (touch.is_write() ? "w" : "r") + std::to_string(touch.location());
      }
      if (operation.kind == Operation::Kind::access && operation.touches.size() > 1) text += ")";
      if (operation.free) text += "*";
    }
    text += "\n";
  }
  return text;
}

std::uint64_t count_executions(const StraightLine& program) {
  return Oracle(program).count({std::vector<std::uint8_t>(program.processes.size(), 0), 0});
}

StraightLineRun::StraightLineRun(const StraightLine& program, std::uint32_t broken)
    : program_(program), broken_(broken) {}

void StraightLineRun::restart() {
  at_.assign(program_.processes.size(), 0);
  locked_.assign(locks, false);
}

bool StraightLineRun::can_run(std::size_t process) const {
  const Operation& next = program_.processes[process][at_[process]];
  return next.kind != Operation::Kind::lock || !locked_[next.touches[0].location() - first_lock];
}

ProcessSet StraightLineRun::enabled() {
  ProcessSet set;
  for (std::size_t p = 0; p < at_.size(); ++p) {
    if (at_[p] < program_.processes[p].size() && can_run(p)) set.add(static_cast<Process>(p));
  }
  return set;
}

ProcessSet StraightLineRun::blocked() {
  ProcessSet set;
  for (std::size_t p = 0; p < at_.size(); ++p) {
    if (at_[p] < program_.processes[p].size() && !can_run(p)) set.add(static_cast<Process>(p));
  }
  return set;
}

void StraightLineRun::tell(const Operation& operation, Footprint& touched) const {
  for (const Touch touch : operation.touches) {
    const bool lie = broken_ != 0 && touch.is_write() && touch.location() % broken_ == 0;
    touched.add(lie ? Touch::read(touch.location()) : touch);
  }
}

StepKind StraightLineRun::step(Process process, Footprint& touched) {
  const Operation& operation = program_.processes[process][at_[process]++];
  if (operation.kind != Operation::Kind::access) {
    locked_[operation.touches[0].location() - first_lock] = operation.kind == Operation::Kind::lock;
  }
  tell(operation, touched);
  return operation.free ? StepKind::free : StepKind::fixed;
}

void StraightLineRun::pending(Process process, Footprint& touched) {
  tell(program_.processes[process][at_[process]], touched);
}

}  // namespace calm::explore
