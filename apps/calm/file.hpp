// file.hpp — files that the commands of the tool read and write.
// Laws:    none
// Threads: the main thread
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>

namespace calm::tool {

/// Gives: all bytes of the file. Fails: Refused, with the reason.
std::string read_file(const std::string& path);

/// Gives: the file has these bytes and no others. Fails: Refused, with the reason.
void write_file(const std::string& path, std::string_view bytes);

}  // namespace calm::tool
