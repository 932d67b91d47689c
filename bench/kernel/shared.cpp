// The kernel of a runtime with several workers, used by one thread: its words are atomic and its shards are locked.
#include "bench/kernel/kernel_parts.hpp"
#include "calm/lockfree/atomics.hpp"

int main(int argc, char** argv) { return bench::measure_kernel<calm::lockfree::RealAtomics>(argc, argv, 2); }
