#include "calm/kernel/kernel.hpp"

#include "calm/kernel/kernel_make.hpp"

namespace calm::kernel {

std::exception_ptr forced_end() noexcept { return std::make_exception_ptr(ForcedEnd()); }

template class BasicKernel<lockfree::RealAtomics>;
template class BasicKernel<lockfree::LocalAtomics>;

}  // namespace calm::kernel
