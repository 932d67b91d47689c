#include "calm/lab/lab.hpp"

#include "calm/lab/world.hpp"

namespace calm::lab {

LabReport run_program(const LabConfig& config, Program& program, const Watching& watching) {
  Machine machine(config.kernel);
  World world(config, machine, watching);
  return world.run(program);
}

}  // namespace calm::lab
