// write_traces.cpp — writes trace files for the tests of `calm trace`: calm_write_traces DIR
//
// server.json, server.trace   a server that is shut down, in both forms; names in the JSON form
// lab.trace                   a program of the lab with some 10 000 events
// random-N.trace              random operations on a kernel, for N from 0 on; of every fourth only the last events
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>

#include "calm/lab/lab.hpp"
#include "calm/trace/codec.hpp"
#include "calm/trace/json.hpp"
#include "tests/reference/driver.hpp"
#include "tests/unit/observe/traces.hpp"

// NOLINTBEGIN(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters):
// callables live in the frame of the task or scope that runs them (TSK-5), and what they refer to outlives the run
namespace calm {
namespace {

constexpr int random_traces = 24;

void write(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

void write_binary(const std::filesystem::path& path, const trace::Trace& trace) {
  const auto bytes = trace::encode(trace);
  write(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Task<int> naps(Cx cx, int count) {
  for (int i = 0; i < count; ++i) co_await sleep(cx, Duration::milliseconds(1 + i % 7));
  co_return count;
}

Task<int> crowd(Scope& scope) {
  int sum = 0;
  for (int i = 0; i < 40; ++i) {
    auto child = co_await scope.spawn(naps, 25);
    if (i % 2 == 0) sum += co_await std::move(child).join(scope.cx());
  }
  co_return sum;
}

Task<int> crowds(Cx cx) {
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += co_await scope(cx, crowd);
  co_return sum;
}

trace::Trace lab_trace() { return lab::run({.seed = 7}, &crowds).trace; }

trace::Trace random_trace(std::uint64_t seed) {
  reference::Program program = reference::make_program(seed, 300);
  program.setup.trace = seed % 4 == 0 ? 0 : 1;
  reference::Coverage coverage;
  reference::Driver driver(program.setup, coverage, reference::Fault::none);
  for (const reference::Operation& operation : program.operations) (void)driver.step(operation);
  (void)driver.drain();
  return driver.trace();
}

void write_all(const std::filesystem::path& folder) {
  const trace::NamedTrace server = observe::shutdown_of_a_server();
  write(folder / "server.json", trace::to_json(server.trace, server.names));
  write_binary(folder / "server.trace", server.trace);
  write_binary(folder / "lab.trace", lab_trace());
  for (int i = 0; i < random_traces; ++i) {
    write_binary(folder / ("random-" + std::to_string(i) + ".trace"), random_trace(static_cast<std::uint64_t>(i)));
  }
}

}  // namespace
}  // namespace calm
// NOLINTEND(cppcoreguidelines-avoid-capturing-lambda-coroutines,cppcoreguidelines-avoid-reference-coroutine-parameters)

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: calm_write_traces DIR\n", stderr);
    return 2;
  }
  try {
    calm::write_all(argv[1]);
    return 0;
  } catch (const std::exception& exception) {
    std::fprintf(stderr, "calm_write_traces: %s\n", exception.what());
    return 1;
  }
}
