#include "calm/lab/lab.hpp"

#include "calm/lab/world.hpp"

namespace calm::lab {

LabReport run_program(const LabConfig& config, Program& program, const Watching& watching) {
  Ground ground(config.kernel);
  World world(config, ground, watching);
  return world.run(program);
}

}  // namespace calm::lab
