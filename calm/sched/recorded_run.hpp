// recorded_run.hpp — a run of the runtime as a text: who was polled when and where, and what came in from outside.
// Laws:    SCH-9
// Threads: values; a RunText belongs to who has the turn
// Cancel:  a shutdown is one of the steps
//
// Lines of `key value…`, in this order; a line that begins with # is a comment, empty lines are skipped:
//   calm-recording 1               the form
//   program NAME                   what `calm replay` looks the program up by; - for none
//   workers NUMBER
//   several 0|1                    tasks are made of words that several threads may use (Flavour)
//   seed HEX                       of the entropy of each worker (SCH-7)
//   ceilings REGIONS TASKS OBLIGATIONS
//   limits TASKS REGIONS OBLIGATIONS BYTES            of the root region
//   budget DEADLINE POLLS COST PRIORITY               of the root region, as raw numbers
//   leaks POLICY THRESHOLD THEN STRICT                as numbers
// then what happened, in the order in which it did; times in ns since the time before:
//   task PATH                      gives a task its number, the next one from 0 on (task_path.hpp)
//   poll WORKER TIME TASK          the worker polls the task, …
//   clock TIME                     … which looks at the clock, …
//   refused                        … makes a call that blocks and is refused, …
//   withdrawn 0|1                  … takes such a call back: 1 when it had not begun, …
//   ended                          … and has ended with this poll
//   alarm WORKER TIME TASK         an alarm of the task goes off
//   deadline WORKER TIME TASK      a deadline of the task is reached
//   blocking WORKER TIME TASK      a call of the task that blocks has ended
//   result HEX                     … and returned these bytes; - for none. Numbers, enumerators and strings only
//   outside WORKER TIME            a thread that is no worker spawns a task
//   shutdown WORKER TIME           the program is asked to stop
// and at the end
//   end KIND STEPS HEX             how the program ended, the number of steps, XXH64 over all that is before it
// Nothing follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "calm/kernel/config.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/time.hpp"
#include "calm/trace/hash.hpp"

namespace calm::sched {

enum class StepKind : std::uint8_t { poll, alarm, deadline, blocking, outside, shutdown };
inline constexpr std::string_view step_kind_names[] = {"poll", "alarm", "deadline", "blocking", "outside", "shutdown"};

/// Gives: true when the step is about a task.
constexpr bool has_task(StepKind kind) noexcept { return kind != StepKind::outside && kind != StepKind::shutdown; }

/// What a task learns in its poll that no other task told it.
enum class InputKind : std::uint8_t { clock, refused, withdrawn };

struct RecordedInput {
  InputKind kind{};
  std::uint64_t value = 0;  ///< the time in ns; whether it was withdrawn

  friend constexpr bool operator==(const RecordedInput&, const RecordedInput&) noexcept = default;
};

struct RecordedStep {
  StepKind kind{};
  bool ended = false;  ///< the task that was polled
  std::uint16_t worker = 0;
  std::uint32_t task = 0;  ///< its place in RecordedRun::tasks
  Time at{};
  std::vector<RecordedInput> inputs{};  ///< of a poll, in order
  std::optional<std::string> result{};  ///< of a call that blocks, if it is known

  friend bool operator==(const RecordedStep&, const RecordedStep&) = default;
};

struct RecordedRun {
  std::string program{};
  std::uint16_t workers = 1;
  bool several = false;
  std::uint64_t seed = 0;
  kernel::Config kernel{};  ///< what the form keeps of it
  std::vector<std::string> tasks{};
  std::vector<RecordedStep> steps{};
  OutcomeKind end = OutcomeKind::ok;
  bool cut = false;  ///< it has no end: the run did not come to it, or the file was cut off
};

/// Writes the lines, one after the other; who has them written takes them away.
class RunText {
 public:
  /// The lines before the first step.
  void begin(const RecordedRun& header);

  void task(std::string_view path);
  void step(StepKind kind, std::uint16_t worker, Time at, std::uint32_t task);
  void input(InputKind kind, std::uint64_t value);
  void result(std::string_view bytes);
  void ended();
  void end(OutcomeKind kind);

  [[nodiscard]] std::size_t size() const noexcept { return text_.size(); }
  /// Gives: the lines that nobody has taken yet; they are gone then.
  [[nodiscard]] std::string_view text() const noexcept { return text_; }
  void taken();

 private:
  void number(std::uint64_t value);
  [[nodiscard]] std::uint64_t since_last(std::uint64_t ns) noexcept;

  std::string text_;
  trace::Hasher hash_;  // over what was taken
  std::uint64_t last_ns_ = 0;
  std::uint64_t steps_ = 0;
};

/// What becomes of a recording without its last line, of a run that did not come to its end.
enum class Cut : std::uint8_t { refuse, accept };

/// Gives: what the text says. With Cut::accept, of a recording that was cut off, the steps that are whole; `cut` is set then,
///        and nothing tells whether they are as they were written.
/// Fails: protocol, or unsupported for another form, with the line and what is wrong with it.
Outcome<RecordedRun> read_run(std::string_view text, Cut cut = Cut::refuse);

/// Gives: the text of the run; read_run() gives the same run again.
std::string write_run(const RecordedRun& run);

}  // namespace calm::sched
