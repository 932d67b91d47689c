// rare_call.hpp — a call that a short function hardly ever makes, and need not save its registers for.
// Laws:    none
// Threads: not applicable
// Cancel:  not applicable
#pragma once

/// Before a function that is not inline: it gives its caller nearly all registers back as they were. A coroutine that calls no
/// others where it goes on has nothing to save and to fetch again then. Compilers that cannot do it make a call like any other.
#if defined(__clang__) && defined(__x86_64__)
#define CALM_RARE_CALL [[gnu::noinline, clang::preserve_most]]
#else
#define CALM_RARE_CALL [[gnu::noinline]]
#endif
