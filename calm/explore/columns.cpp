#include "calm/explore/columns.hpp"

#include <algorithm>
#include <map>

#include "calm/explore/footprint.hpp"

namespace calm::explore {
namespace {

/// Small numbers for places, by first use.
class Places {
 public:
  std::string text(const Footprint& touched) {
    std::string result;
    for (std::uint32_t i = 0; i < touched.size(); ++i) {
      const auto place = numbers_.try_emplace(touched[i].location(), numbers_.size()).first;
      if (i > 0) result += ", ";
      result += (touched[i].is_write() ? "write x" : "read x") + std::to_string(place->second);
    }
    return result;
  }

 private:
  std::map<Location, std::size_t> numbers_;
};

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.resize(width, ' ');
  return text;
}

}  // namespace

std::string columns(Program& program, const std::vector<Process>& schedule) {
  std::vector<Process> who(schedule);
  std::sort(who.begin(), who.end());
  who.erase(std::unique(who.begin(), who.end()), who.end());
  constexpr std::size_t width = 16;
  program.restart();
  std::string text = "        ";
  for (const Process process : who) text += padded(program.name_of(process), width);
  Places places;
  Footprint touched;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    touched.clear();
    (void)program.step(schedule[i], touched);
    const auto column = static_cast<std::size_t>(std::find(who.begin(), who.end(), schedule[i]) - who.begin());
    text += "\n  " + padded(std::to_string(i + 1), 6) + std::string(column * width, ' ') + places.text(touched);
  }
  const ProcessSet blocked = program.failed() ? ProcessSet() : program.blocked();
  for (std::uint64_t left = blocked.bits(); left != 0; left &= left - 1) {
    const auto process = static_cast<Process>(std::countr_zero(left));
    touched.clear();
    program.pending(process, touched);
    text += "\n  " + program.name_of(process) + " waits for ever to " + places.text(touched);
  }
  text += "\n";
  return text;
}

}  // namespace calm::explore
