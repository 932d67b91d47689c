// main of every test program. With CALM_PROBE_LOG=FILE the probes of the run are appended to FILE, hit or not, one line
// each: hits<TAB>file:line<TAB>name. A campaign adds the lines up and names the probes that no test hit.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "calm/check/probe.hpp"

namespace {

// Gives: whether all lines are in the file. One append, so that programs running side by side do not mix lines.
bool append_probes(const char* path) {
  std::string lines;
  calm::check::write_probes([&lines](const char* line) { lines.append(line) += '\n'; });
  const int file = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return false;
  const bool written = ::write(file, lines.data(), lines.size()) == static_cast<::ssize_t>(lines.size());
  return ::close(file) == 0 && written;
}

}  // namespace

int main(int argc, char** argv) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");  // tests start threads; a plain fork would copy only one of them
  testing::InitGoogleTest(&argc, argv);
  const int result = RUN_ALL_TESTS();
  if (const char* path = std::getenv("CALM_PROBE_LOG"); path != nullptr && *path != '\0' && !append_probes(path)) {
    std::fprintf(stderr, "calm: cannot append the probes to CALM_PROBE_LOG=%s: %s\n", path, std::strerror(errno));
    return EXIT_FAILURE;
  }
  return result;
}
