// differences.hpp — what two sides say differently: snapshots, what the host was told, ends.
// Laws:    LAB-10
// Threads: pure functions
// Cancel:  not applicable
//
// Each function gives nothing when both sides agree, and builds text only when they do not. Errors compare by code, notes
// as a set (their order is that of the ends), panics by their exception or its text, epochs by value: both count from 1.
#pragma once

#include <optional>
#include <string>

#include "calm/kernel/snapshot.hpp"
#include "reference_model.hpp"

namespace calm::reference {

bool same_end(const ChildEnd& kernel, const ChildEnd& model);

/// Give: lines `r3 state: kernel Open, model Closing`; empty when there is no difference.
std::string differences(const kernel::Snapshot& kernel, const kernel::Snapshot& model);
std::string differences(const Told& kernel, const Told& model);

}  // namespace calm::reference
