// Memory that is asked for ahead: an address with nothing behind it does no harm.
#include "calm/mem/fetch_ahead.hpp"

#include <gtest/gtest.h>

#include <cstddef>

namespace calm::mem {
namespace {

TEST(FetchAhead, takes_an_address_without_memory_behind_it) {
  const void* volatile nothing = nullptr;
  fetch_ahead(nothing, 256);
  const std::byte last{};
  fetch_ahead(&last, 256);
  EXPECT_EQ(last, std::byte{});
}

}  // namespace
}  // namespace calm::mem
