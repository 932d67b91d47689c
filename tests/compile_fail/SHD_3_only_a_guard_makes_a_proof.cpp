// expect(clang): calling a private constructor of class '.*Held<.*everything>'
// expect(gcc): Held<set>::Held\(\) .*is private within this context
#include "calm/kernel/shards.hpp"

#ifdef MUST_NOT_COMPILE
calm::kernel::AllHeld claim() { return calm::kernel::AllHeld(); }
#else
calm::kernel::AllHeld claim(calm::kernel::AllHeld held) { return held; }
#endif
