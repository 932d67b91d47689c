// kernel.hpp — the kernel as others include it: its interface, and the inline parts of it.
// Laws:    see basic_kernel.hpp
// Threads: see basic_kernel.hpp
// Cancel:  see basic_kernel.hpp
#pragma once

#include "calm/kernel/basic_kernel.hpp"
#include "calm/kernel/hot_steps.hpp"
#include "calm/kernel/promise_steps.hpp"

namespace calm::kernel {

// The rest is in the library. After the inline definitions: g++ takes them for those of another file otherwise.
extern template class BasicKernel<lockfree::RealAtomics>;
extern template class BasicKernel<lockfree::LocalAtomics>;

}  // namespace calm::kernel
