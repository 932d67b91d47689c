#include "program.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>

namespace calm::programs {
namespace {

constexpr std::uint32_t depth_max = 7;
constexpr std::uint32_t statements_max = 80;

enum class Form : std::uint8_t { acts, waits, acts_with_body, waits_with_body };

struct Row {
  std::string_view name;
  Form form;
  std::uint32_t weight;  ///< how often it is chosen
};
constexpr std::array<Row, do_count> rows{{
    {"mark", Form::acts, 5},
    {"yield", Form::waits, 8},
    {"checkpoint", Form::waits, 6},
    {"sleep", Form::waits, 10},
    {"spend", Form::acts, 3},
    {"entropy", Form::acts, 2},
    {"join", Form::waits, 6},
    {"cancel_task", Form::acts, 5},
    {"drop_handle", Form::acts, 2},
    {"cancel_scope", Form::acts, 4},
    {"defer", Form::acts, 4},
    {"reserve", Form::acts, 6},
    {"commit", Form::acts, 3},
    {"abort", Form::acts, 2},
    {"drop_token", Form::acts, 1},
    {"fail", Form::waits, 1},
    {"panic", Form::waits, 1},
    {"scope", Form::waits_with_body, 9},
    {"spawn", Form::acts_with_body, 18},
    {"fiber", Form::acts_with_body, 5},
    {"defer_async", Form::acts_with_body, 5},
    {"bracket", Form::waits_with_body, 5},
    {"mask", Form::waits_with_body, 4},
    {"section", Form::waits_with_body, 3},
    {"attempt", Form::waits_with_body, 8},
    {"call", Form::waits_with_body, 4},
    {"catch_panic", Form::waits_with_body, 4},
    {"with_deadline", Form::waits_with_body, 5},
    {"with_budget", Form::waits_with_body, 5},
}};
constexpr const Row& row_of(Do what) noexcept { return rows[static_cast<std::size_t>(what)]; }

bool has_body(Do what) noexcept {
  return row_of(what).form == Form::acts_with_body || row_of(what).form == Form::waits_with_body;
}

/// Makes the blocks of one program.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) noexcept : random_(seed) {
    for (std::size_t i = 0; i < do_count; ++i) {
      constexpr std::array<std::uint32_t, 4> often{0, 1, 1, 3};
      weights_[i] = rows[i].weight * often[random_.below(4)];
    }
    weights_[static_cast<std::size_t>(Do::scope)] += 4;
    weights_[static_cast<std::size_t>(Do::yield)] += 2;
    left_ = 4 + random_.below(statements_max);
  }

  Block block(std::uint32_t depth, bool masked = false) {
    Block made;
    const std::uint32_t count = 1 + random_.below(depth == 0 ? 3 : 8);
    for (std::uint32_t i = 0; i < count && left_ != 0; ++i) made.push_back(statement(depth, masked));
    return made;
  }

 private:
  Statement statement(std::uint32_t depth, bool masked) {
    --left_;
    if (depth == 0) {  // so that the next one runs, whatever this one does
      return {.what = Do::attempt, .body = {statement(1, masked)}};
    }
    Statement made{.what = depth == 1 && random_.below(4) != 0 ? Do::scope : kind(depth)};
    made.a = argument(made.what, masked);
    made.b = random_.below(16);
    const bool mask = made.what == Do::mask || made.what == Do::section || made.what == Do::defer_async;
    if (has_body(made.what)) made.body = block(depth + 1, masked || mask);
    return made;
  }

  Do kind(std::uint32_t depth) {
    const bool deep = depth == depth_max;
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < do_count; ++i) sum += weight(i, deep);
    std::uint32_t at = random_.below(sum);
    for (std::size_t i = 0; i < do_count; ++i) {
      if (at < weight(i, deep)) return static_cast<Do>(i);
      at -= weight(i, deep);
    }
    return Do::mark;
  }
  [[nodiscard]] std::uint32_t weight(std::size_t i, bool deep) const noexcept {
    return deep && has_body(static_cast<Do>(i)) ? 0 : weights_[i];
  }

  /// Under a mask, often more than the budgets of clean-up allow.
  std::uint32_t argument(Do what, bool masked) {
    const bool longer = random_.below(masked ? 3 : 15) == 0;
    if (what == Do::sleep && longer) return 9;
    if (what != Do::yield) return random_.below(16);
    return longer ? 220 + random_.below(100) : 1 + random_.below(3);
  }

  Random random_;
  std::array<std::uint32_t, do_count> weights_{};
  std::uint32_t left_ = 0;
};

std::string arguments(const Statement& statement) {
  const auto duration = [](std::uint32_t number) { return to_string(duration_of(number)); };
  const auto budget = [](std::uint32_t number) { return to_string(budget_of(number, Time())); };
  switch (statement.what) {
    case Do::mark:
    case Do::checkpoint:
    case Do::entropy:
    case Do::defer:
    case Do::panic:
    case Do::defer_async:
    case Do::mask:
    case Do::section:
    case Do::attempt:
    case Do::call:
    case Do::catch_panic:
      return {};
    case Do::sleep:
    case Do::with_deadline:
      return " " + duration(statement.a);
    case Do::with_budget:
      return " " + budget(statement.a);
    case Do::join:
      return fmt::format(" {}{}", statement.a, statement.b % 2 == 1 ? " outcome" : "");
    case Do::scope:
      return fmt::format(" {}{} {}", statement.a % 2 == 1 ? "collect" : "fail_fast",
                         statement.b % 3 == 0 ? " outcome" : "", budget(statement.b));
    case Do::spawn:
    case Do::fiber:
      return fmt::format("{}{} {}", statement.a % 2 == 1 ? " outside" : "", statement.b % 5 == 4 ? " giving" : "",
                         budget(statement.b));
    case Do::bracket:
      return fmt::format(" acquire {} release {}", statement.a % 3, statement.b % 3);
    case Do::yield:
    case Do::spend:
    case Do::cancel_task:
    case Do::drop_handle:
    case Do::cancel_scope:
    case Do::reserve:
    case Do::commit:
    case Do::abort:
    case Do::drop_token:
    case Do::fail:
      return fmt::format(" {}", statement.a);
  }
  return {};
}

void write(std::string& text, const Block& block, std::size_t indent) {
  for (const Statement& statement : block) {
    fmt::format_to(std::back_inserter(text), "{:{}}{}{}", "", indent, to_string(statement.what), arguments(statement));
    if (!has_body(statement.what)) {
      text += "\n";
      continue;
    }
    text += " {\n";
    write(text, statement.body, indent + 2);
    fmt::format_to(std::back_inserter(text), "{:{}}}}\n", "", indent);
  }
}

}  // namespace

std::string_view to_string(Do what) noexcept { return row_of(what).name; }
bool waits(Do what) noexcept { return row_of(what).form == Form::waits || row_of(what).form == Form::waits_with_body; }

Program make_program(std::uint64_t seed) { return {.seed = seed, .body = Maker(seed).block(0)}; }

Program with_trouble(Program program) {
  Random random(~program.seed);
  switch (random.below(5)) {
    case 0:
      program.faults.cancel_task_at = 1 + random.below(60);
      break;
    case 1:
      program.faults.cancel_scope_at = 1 + random.below(60);
      break;
    case 2:
      program.faults.spurious_wakes = 200;
      break;
    case 3:
      program.faults.fail_allocation = 1 + random.below(250);
      break;
    default:
      program.faults.clock_jumps = 100;
      program.faults.jump_max = duration_of(5 + random.below(5));
      break;
  }
  return program;
}

std::size_t size_of(const Block& block) noexcept {
  std::size_t size = block.size();
  for (const Statement& statement : block) size += size_of(statement.body);
  return size;
}

Duration duration_of(std::uint32_t number) noexcept {
  constexpr std::array<Duration, 10> durations{Duration(),
                                               Duration::microseconds(1),
                                               Duration::microseconds(100),
                                               Duration::milliseconds(1),
                                               Duration::milliseconds(3),
                                               Duration::milliseconds(5),
                                               Duration::milliseconds(20),
                                               Duration::milliseconds(100),
                                               Duration::milliseconds(2000),
                                               Duration::milliseconds(7000)};
  return durations[number % durations.size()];
}

Budget budget_of(std::uint32_t number, Time now) noexcept {
  switch (number % 8) {
    case 1:
      return {.deadline = now + Duration::milliseconds(4)};
    case 3:
      return {.polls = Quota(3)};
    case 5:
      return {.cost = Quota(20), .priority = 9};
    case 7:
      return {.deadline = now + Duration::milliseconds(30), .polls = Quota(40), .cost = Quota(50), .priority = 1};
    default:
      return {};
  }
}

std::string to_string(const Program& program) {
  std::string text = fmt::format("program {} {{\n", program.seed);
  if (program.faults != lab::Faults()) {
    fmt::format_to(
        std::back_inserter(text),
        "  // cancels the task at await point {}, the scope at {}; allocation {} fails; of 1000 steps {} wake and {} "
        "jump\n",
        program.faults.cancel_task_at, program.faults.cancel_scope_at, program.faults.fail_allocation,
        program.faults.spurious_wakes, program.faults.clock_jumps);
  }
  write(text, program.body, 2);
  return text + "}\n";
}

}  // namespace calm::programs
