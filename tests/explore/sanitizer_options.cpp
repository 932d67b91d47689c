// The explorer switches stacks some hundred thousand times a second. AddressSanitizer would make a fake stack for each one,
// to find uses of locals after a return; that takes ten times as long as all the rest.
extern "C" const char*
__asan_default_options();  // NOLINT(bugprone-reserved-identifier): the sanitizer asks for this name
const char* __asan_default_options() { return "detect_stack_use_after_return=0"; }
