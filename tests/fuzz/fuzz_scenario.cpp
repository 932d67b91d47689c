// fuzz_scenario.cpp — the loader takes any bytes: it refuses them with a place and a text, or gives scenarios whose digests
// can be written into the file and read back.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/loader.hpp"
#include "apps/calm/scenario/update.hpp"
#include "calm/check/require.hpp"

namespace calm::scenario {
namespace {

constexpr std::string_view digest = "00112233445566ff";
constexpr std::string_view semantic = "ff66554433221100";

void update_and_compare(const ScenarioFile& file, std::string_view text) {
  std::vector<NewDigests> digests;
  for (const Scenario& scenario : file.scenarios) {
    digests.push_back({&scenario, std::string(digest), std::string(semantic)});
  }
  const ScenarioFile again = load_text("fuzz.toml", updated_text(text, digests));
  CALM_INVARIANT(LAB_11, again.scenarios.size() == file.scenarios.size());
  for (const Scenario& scenario : again.scenarios) {
    CALM_INVARIANT(LAB_11, scenario.digest && scenario.digest->hex == digest);
    CALM_INVARIANT(LAB_11, scenario.semantic && scenario.semantic->hex == semantic);
  }
}

void load_and_update(std::string_view text) {
  std::vector<ScenarioFile> files;
  try {
    files.push_back(load_text("fuzz.toml", text));
  } catch (const Problem& problem) {
    CALM_INVARIANT(LAB_11, std::string_view(problem.what()).size() > 8);
    return;
  }
  update_and_compare(files.front(), text);
}

}  // namespace
}  // namespace calm::scenario

// The first byte says whether the others are a whole file or the steps of a scenario, so that the fuzzer reaches those.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string bytes(data + 1, data + size);
  if (data[0] % 2 == 0) {
    calm::scenario::load_and_update(bytes);
  } else {
    std::string text =
        "format = 1\nfamily = \"task\"\n[[scenario]]\nid = \"x\"\nlaw = [\"I1\"]\nabout = \"x\"\nsteps = [\n";
    calm::scenario::load_and_update(text.append(bytes).append("\n]\n"));
  }
  return 0;
}
