#include "calm/lab/lab.hpp"

#include "calm/lab/world.hpp"

namespace calm::lab {

LabReport run_program(const LabConfig& config, Program& program) {
  World world(config, nullptr);
  return world.run(program);
}

}  // namespace calm::lab
