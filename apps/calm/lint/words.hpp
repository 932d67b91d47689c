// words.hpp — the words of the text form, in the order of what they stand for.
// Laws:    OBL-8
// Threads: constants
// Cancel:  not applicable
#pragma once

#include <array>
#include <string_view>

#include "apps/calm/lint/ir.hpp"

namespace calm::lint {

inline constexpr std::array<std::string_view, obligation_kind_count> kind_words = {
    "send_permit", "ack",           "lease",     "io_operation", "semaphore_permit",
    "lock_guard",  "pool_checkout", "finalizer", "custom"};
inline constexpr std::array<std::string_view, 3> mode_words = {"takes", "lends", "gives"};

}  // namespace calm::lint
