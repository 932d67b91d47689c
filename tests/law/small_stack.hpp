// small_stack.hpp — runs a function on a thread with a stack of 256 KiB: what recurses there does not come back.
// Laws:    TSK-7
// Threads: one more, joined before it returns
// Cancel:  not applicable
#pragma once

#include <gtest/gtest.h>
#include <pthread.h>

#include <cstddef>

namespace calm {

inline constexpr std::size_t small_stack_bytes = 256UL * 1024;

template <class F>
void on_a_small_stack(F body) {
  pthread_attr_t attributes;
  ASSERT_EQ(pthread_attr_init(&attributes), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, small_stack_bytes), 0);
  pthread_t thread{};
  const auto entry = [](void* given) -> void* {
    (*static_cast<F*>(given))();
    return nullptr;
  };
  ASSERT_EQ(pthread_create(&thread, &attributes, entry, &body), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  ASSERT_EQ(pthread_attr_destroy(&attributes), 0);
}

}  // namespace calm
