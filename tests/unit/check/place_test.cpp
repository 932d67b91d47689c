#include "calm/check/place.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace calm::check {
namespace {

constexpr bool same(const char* path, std::string_view expected) { return short_file(path) == expected; }

static_assert(same("/srv/build/calm/kernel/region.cpp", "calm/kernel/region.cpp"));
static_assert(same("/home/calm/src/calm/calm/kernel/region.cpp", "calm/kernel/region.cpp"));
static_assert(same("/usr/include/calm/calm.hpp", "calm/calm.hpp"));
static_assert(same("/src/calm/tests/unit/check/place_test.cpp", "tests/unit/check/place_test.cpp"));
static_assert(same("/src/calm/apps/calm/main.cpp", "apps/calm/main.cpp"));
static_assert(same("/src/calm/examples/hello.cpp", "examples/hello.cpp"));
static_assert(same("../../calm/kernel/region.cpp", "calm/kernel/region.cpp"));
static_assert(same("calm/kernel/tests/region.cpp", "calm/kernel/tests/region.cpp"),
              "a relative path is shown as given");
static_assert(same("/src/other/mycalm/a.cpp", "/src/other/mycalm/a.cpp"));
static_assert(same("/src/calm.cpp", "/src/calm.cpp"));
static_assert(same("", ""));

std::string function_shown(const char* pretty) {
  const FunctionName function = short_function(pretty);
  std::string text(std::string_view(function.scope.data, function.scope.size));
  if (!text.empty()) text += "::";
  text += std::string_view(function.name.data, function.name.size);
  return function.in_lambda ? text + " lambda" : text;
}

struct Case {
  const char* clang;
  const char* gcc;
  const char* expected;
};

TEST(Place, a_function_is_shown_alike_by_both_compilers) {
  const std::vector<Case> cases = {
      {"int main()", "int main()", "main"},
      {"void calm::kernel::Region::verify() const", "void calm::kernel::Region::verify() const", "Region::verify"},
      {"calm::kernel::Region::~Region()", "calm::kernel::Region::~Region()", "Region::~Region"},
      {"virtual void Report_names_Test::TestBody()", "virtual void Report_names_Test::TestBody()",
       "Report_names_Test::TestBody"},
      {"bool R::operator bool() const", "R::operator bool() const", "R::operator bool"},
      {"bool R::operator()(int) const", "bool R::operator()(int) const", "R::operator()"},
      {"bool R::operator<(const R &) const", "bool R::operator<(const R&) const", "R::operator<"},
      {"Region *R::operator->()", "calm::kernel::Region* R::operator->()", "R::operator->"},
      {"void R::t(T) [T = int]", "void R::t(T) requires  integral<T> [with T = int]", "R::t"},
      {"static std::vector<int> R::v(std::vector<int> *, void (*)(int))",
       "static std::vector<int> R::v(std::vector<int>*, void (*)(int))", "R::v"},
      {"T *calm::Box<int, 3>::get() [T = int, n = 3]", "T* calm::Box<T, n>::get() [with T = int; int n = 3]",
       "Box::get"},
      {"int &calm::k::(anonymous namespace)::f(int)", "int& calm::k::{anonymous}::f(int)", "k::f"},
      {"auto calm::(anonymous namespace)::f(int)::(anonymous class)::operator()(int) const",
       "calm::{anonymous}::f(int)::<lambda(int)>", "calm::f lambda"},
      {"auto main()::(anonymous class)::operator()(auto) [auto:1 = int]",
       "main()::<lambda(auto:3)> mutable [with auto:3 = int]", "main lambda"},
      {"void k::f(int)::L::g()", "void k::f(int)::L::g()", "L::g"},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(function_shown(one.clang), one.expected);
    EXPECT_EQ(function_shown(one.gcc), one.expected);
  }
}

TEST(Place, an_unknown_form_is_read_to_its_end) {
  for (const char* text : {"", "(", "<", "::", "a::", "f(", "operator", "f<(", " ", "a b c", "a:b"})
    function_shown(text);
}

}  // namespace
}  // namespace calm::check
