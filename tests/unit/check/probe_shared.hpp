// probe_shared.hpp — probes in a header that two files of the test include.
// Laws:    none
// Threads: any
// Cancel:  not applicable
#pragma once

#include "calm/check/probe.hpp"

namespace calm::check::shared {

inline constexpr int rare_line = __LINE__ + 1;
inline void rare() { CALM_PROBE("shared: inline function"); }

template <class T>
void rare_template(T) {
  CALM_PROBE("shared: template");
}

void hit_from_the_other_file();
void never_called(bool rare);
void hit_without_probes();

}  // namespace calm::check::shared
