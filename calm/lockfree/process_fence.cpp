#include "calm/lockfree/process_fence.hpp"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "calm/check/require.hpp"

namespace calm::lockfree {

bool RealFence::prepare() noexcept {
  return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

void RealFence::heavy() noexcept {
  const long result = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  CALM_REQUIRE(SCH_6, result == 0, static_cast<std::uint64_t>(-result));  // who has registered is not refused
}

}  // namespace calm::lockfree
