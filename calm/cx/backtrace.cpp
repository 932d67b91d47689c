#include "calm/cx/backtrace.hpp"

#include <string_view>

#include "calm/cx/port.hpp"

namespace calm::cx {

std::string short_place(const std::source_location& site) {
  if (site.line() == 0) return "nowhere";
  const std::string_view path = site.file_name();
  return std::string(path.substr(path.rfind('/') + 1)) + ":" + std::to_string(site.line());
}

std::string backtrace(const TaskRoot& root) {
  std::string text = to_string(root.id());
  if (!root.name().empty()) text.append(" \"").append(root.name()).append("\"");
  text.append(" of ").append(to_string(root.region()));
  std::size_t number = 0;
  root.for_each_site([&](std::source_location site) {
    text.append("\n  #").append(std::to_string(number++)).append(" ");
    if (site.line() == 0) {
      text.append("not started");
    } else {
      text.append(short_place(site)).append(" in ").append(site.function_name());
    }
  });
  if (number == 0) text.append(root.is_to_be_called() ? "\n  #0 not started" : "\n  no frames: it has ended");
  return text;
}

}  // namespace calm::cx
