// schedule.hpp — what makes a run happen again: its seed, its faults and the choices it made, as one printable word.
// Laws:    LAB-3, SCH-9, LAB-7 (which faults there are)
// Threads: values
// Cancel:  a fault may be a cancel
//
// The word is made of parts with `-` between them, none of which a shell would touch:
//   calm1          the form; another one has another number
//   nHEX           the name of the program, as a hash; only when it has one
//   sNUM           the seed. Numbers are in base 62: 0-9, A-Z, a-z
//   pNUM  qNUM     a cancel of the task, of the innermost scope, at that await point of the run
//   aNUM           a failure of that allocation
//   wNUM  jNUM mNUM  how many of a thousand steps wake somebody for nothing, let the clock jump; the largest jump in ns
//   t1             the clock going on is one of the choices, after the tasks
//   cCHOICES       every choice, in order; without it the seed makes them. One character for a choice below 62, `_NUM_` for
//                  others, `.NUM.` after one that is made that many times in a row. Zeros at the end are left out.
//   zHEX           checksum over all that is before it
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"

namespace calm::lab {

/// What goes wrong in a run on purpose (LAB-7). Points and allocations count from 1; 0 is none.
struct Faults {
  std::uint64_t cancel_task_at = 0;   ///< the task that comes to this await point of the run is cancelled there
  std::uint64_t cancel_scope_at = 0;  ///< the same for the innermost region it stands in
  std::uint64_t fail_allocation = 0;  ///< this allocation of the program and of the runtime fails; see allocations.hpp
  std::uint16_t spurious_wakes = 0;   ///< in so many of a thousand steps a parked task is woken for nothing
  std::uint16_t clock_jumps = 0;      ///< in so many of a thousand steps the clock jumps forward
  Duration jump_max = Duration::seconds(10);

  friend constexpr bool operator==(const Faults&, const Faults&) noexcept = default;
};

/// Enough to repeat a run of the same program under the same configuration.
struct Schedule {
  std::string program{};  ///< its name, when it has one; the word keeps a hash of it only
  std::uint64_t seed = 1;
  Faults faults{};
  bool explore_time = false;  ///< that the clock goes on is one more choice, the last one, whenever it can
  /// The place of the chosen entry among the runnable ones, for each time there were two or more; beyond the end it is 0,
  /// the one that waits longest. Without a list the seed chooses.
  std::optional<std::vector<std::uint32_t>> choices{};
  std::uint32_t program_hash = 0;  ///< of a schedule that was read from a word; 0 for none

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// Gives: the hash of a program's name in a word; 0 for no name.
std::uint32_t program_hash(std::string_view name) noexcept;

/// Gives: the word.
std::string to_string(const Schedule& schedule);

/// Gives: the schedule of a word. Fails: invalid_argument, with what is wrong and where.
Outcome<Schedule> parse_schedule(std::string_view word);

/// Gives: choices as in a word, and back. Fails: invalid_argument.
std::string encode_choices(const std::vector<std::uint32_t>& choices);
Outcome<std::vector<std::uint32_t>> decode_choices(std::string_view text);

}  // namespace calm::lab
