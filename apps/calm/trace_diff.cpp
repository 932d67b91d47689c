#include "apps/calm/trace_diff.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "apps/calm/refused.hpp"
#include "calm/trace/few_switches.hpp"
#include "calm/trace/foata.hpp"
#include "calm/trace/steps.hpp"
#include "calm/trace/text.hpp"

namespace calm::tool {
namespace {

/// One of the two, in its canonical form.
struct Side {
  const trace::Trace& trace;
  trace::TraceSteps split;
  std::vector<trace::Place> form;
};

Side make_side(std::string_view name, const trace::Trace& trace) {
  auto split = trace::steps_of(trace);
  if (!split) throw Refused{fmt::format("{} has no canonical form: {}", name, split.error().message())};
  Side side{trace, std::move(split).value(), {}};
  side.form = trace::foata_of(side.split.steps);
  return side;
}

void print_side(std::string_view name, const Side& side) {
  const trace::DisplayOrder display = few_switches(side.split.steps);
  fmt::print("{}: {} events, {} steps in {} layers, {} switches ({} {}), fingerprint {}\n", name,
             side.trace.events.size(), side.split.steps.size(), side.form.empty() ? 0 : side.form.back().layer,
             switches_in(side.split.steps), display.fewest ? "fewest" : "at most", display.switches,
             trace::digest_text(fingerprint(side.split.steps, side.form)));
}

/// A step as its events, without the numbers that differ from run to run.
std::string text_of(const Side& side, std::size_t step) {
  std::string text;
  for (const std::size_t event : side.split.events[step]) {
    trace::Event shown = side.trace.events[event];
    shown.cause = 0;
    text.append(text.empty() ? "" : "\n     ").append(to_string(shown));
  }
  return text;
}

void print_layer(std::string_view name, const Side& side, std::uint32_t layer) {
  bool any = false;
  for (const trace::Place& place : side.form) {
    if (place.layer != layer) continue;
    any = true;
    fmt::print("  {}: {}\n", name, text_of(side, place.step));
  }
  if (!any) fmt::print("  {}: nothing\n", name);
}

}  // namespace

int print_difference(const trace::Trace& a, const trace::Trace& b) {
  const Side left = make_side("A", a);
  const Side right = make_side("B", b);
  print_side("A", left);
  print_side("B", right);
  const auto difference = first_difference(left.split.steps, left.form, right.split.steps, right.form);
  if (!difference) {
    fmt::print("the same up to the order of steps that commute; swap distance {}\n",
               swap_distance(left.form, right.form));
    return 0;
  }
  fmt::print("they part in layer {}\n", difference->layer);
  print_layer("A", left, difference->layer);
  print_layer("B", right, difference->layer);
  return 1;
}

}  // namespace calm::tool
