#include "apps/calm/file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "apps/calm/refused.hpp"

namespace calm::tool {
namespace {

// NOLINTNEXTLINE(concurrency-mt-unsafe): the tool has one thread
std::string why() { return errno == 0 ? "it is no file" : std::strerror(errno); }

}  // namespace

std::string read_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw Refused{path + " cannot be read: it is a folder"};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  if (!in.good() && !in.eof()) throw Refused{path + " cannot be read: " + why()};
  return bytes;
}

void write_file(const std::string& path, std::string_view bytes) {
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.flush();
  if (!out) throw Refused{path + " cannot be written: " + why()};
}

}  // namespace calm::tool
