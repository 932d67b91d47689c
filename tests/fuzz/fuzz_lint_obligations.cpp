// fuzz_lint_obligations.cpp — the loader takes any bytes: it refuses them with a place and a text, or gives a program that can
// be written and read again, with the same warnings.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/lint/flow.hpp"
#include "apps/calm/lint/loader.hpp"
#include "calm/check/require.hpp"

namespace calm::lint {
namespace {

Program load(std::string_view text) {
  Program program;
  load_text(program, "x", text);
  check_calls(program);
  return program;
}

void load_and_compare(std::string_view text) {
  std::vector<Program> loaded;
  try {
    loaded.push_back(load(text));
  } catch (const Problem& problem) {
    CALM_INVARIANT(OBL_8, problem.place().line > 0 && std::string_view(problem.what()).size() > 8);
    return;
  }
  const std::string written = to_text(loaded.front());
  const Program again = load(written);
  CALM_INVARIANT(OBL_8, to_text(again) == written);
  CALM_INVARIANT(OBL_8, find_leaks(again) == find_leaks(loaded.front()));
}

}  // namespace
}  // namespace calm::lint

// The first byte says whether the others are a whole text or the body of a function, so that the fuzzer reaches those.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(data + 1, data + size);
  if (data[0] % 2 == 0) {
    calm::lint::load_and_compare(bytes);
  } else {
    calm::lint::load_and_compare("function f takes p\n" + bytes + "\nend\nfunction g lends q\nend\n");
  }
  return 0;
}
