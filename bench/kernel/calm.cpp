// The kernel of a runtime with one worker: its words are plain values.
#include "bench/kernel/kernel_parts.hpp"
#include "calm/lockfree/local_atomics.hpp"

int main(int argc, char** argv) { return bench::measure_kernel<calm::lockfree::LocalAtomics>(argc, argv, 1); }
