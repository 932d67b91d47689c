// Compiled without probes. Includes no header with a probe in an inline function: it would then exist in two versions.
#define CALM_NO_PROBES
#include "calm/check/probe.hpp"

namespace calm::check::shared {

void hit_without_probes();
void hit_without_probes() { CALM_PROBE("off: not there"); }

}  // namespace calm::check::shared
