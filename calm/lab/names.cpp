#include "calm/lab/names.hpp"

#include <string_view>

#include "calm/check/place.hpp"
#include "calm/model/text.hpp"

namespace calm::lab {
namespace {

bool is_of_calm(std::source_location site) noexcept {
  return std::string_view(check::short_file(site.file_name())).starts_with("calm/");
}

std::string function_text(std::source_location site) {
  const check::FunctionName function = check::short_function(site.function_name());
  std::string text;
  if (function.in_lambda) text = function.name.size == 0 ? "a lambda" : "a lambda in ";
  if (function.scope.size != 0) text.append(function.scope.data, function.scope.size).append("::");
  return text.append(function.name.data == nullptr ? "" : function.name.data, function.name.size);
}

}  // namespace

std::string task_name(const cx::TaskRoot& root) {
  if (!root.name().empty()) return std::string(root.name());
  std::source_location outermost;
  root.for_each_site([&](std::source_location site) {
    if (site.line() != 0 && !is_of_calm(site)) outermost = site;
  });
  return outermost.line() == 0 ? std::string() : function_text(outermost);
}

kernel::Site user_site(const cx::TaskRoot& root) noexcept {
  std::source_location innermost;
  root.for_each_site([&](std::source_location site) {
    if (innermost.line() == 0 && site.line() != 0 && !is_of_calm(site)) innermost = site;
  });
  return innermost;
}

std::string place_text(kernel::Site site) { return site.line() == 0 ? std::string() : text_of(site); }

std::string Names::of(TaskId task) const {
  const auto found = names_.find(task);
  std::string text = to_string(task);
  if (found != names_.end() && !found->second.empty()) text.append(" (").append(found->second).append(")");
  return text;
}

}  // namespace calm::lab
