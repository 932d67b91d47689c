#include "tests/unit/check/probe_shared.hpp"

namespace calm::check::shared {

void hit_from_the_other_file() {
  rare();
  rare_template('a');
}

void never_called(bool rare) {
  if (rare) CALM_PROBE("other file: never hit");
}

}  // namespace calm::check::shared
