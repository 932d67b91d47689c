// What a debugger walks: the list of live kernels, read the way gdb/calm.py reads it.
#include "calm/cx/live_kernel.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace calm::cx {
namespace {

std::uint64_t offset_of(std::string_view name) {
  for (const DebugRow* row = calm_debug_anchor.rows; row->name != nullptr; ++row) {
    if (row->name == name) return row->value;
  }
  ADD_FAILURE() << "no row " << name;
  return 0;
}

const void* pointer_at(const void* object, std::string_view name) {
  const void* pointer = nullptr;
  std::memcpy(&pointer, static_cast<const char*>(object) + offset_of(name), sizeof(pointer));
  return pointer;
}

/// Gives: the roots of the kernels in the list, newest first.
std::vector<const void*> roots() {
  std::vector<const void*> found;
  for (const void* kernel = calm_debug_anchor.newest; kernel != nullptr;
       kernel = pointer_at(kernel, "LiveKernel.older")) {
    found.push_back(pointer_at(kernel, "LiveKernel.root"));
  }
  return found;
}

using Roots = std::vector<const void*>;

TEST(LiveKernel, is_in_the_list_as_long_as_it_lives) {
  const char one = 1;
  const char two = 2;
  const char three = 3;
  EXPECT_EQ(roots(), Roots());
  auto oldest = std::make_unique<LiveKernel>(kernel::Anatomy{.root = &one});
  auto middle = std::make_unique<LiveKernel>(kernel::Anatomy{.root = &two});
  auto newest = std::make_unique<LiveKernel>(kernel::Anatomy{.root = &three});
  EXPECT_EQ(roots(), (Roots{&three, &two, &one}));
  middle.reset();
  EXPECT_EQ(roots(), (Roots{&three, &one}));
  oldest.reset();
  EXPECT_EQ(roots(), Roots{&three});
  newest.reset();
  EXPECT_EQ(roots(), Roots());
}

TEST(LiveKernel, comes_and_goes_on_several_threads) {
  const auto come_and_go = [] {
    for (int i = 0; i < 1000; ++i) {
      const char root = 0;
      const LiveKernel first(kernel::Anatomy{.root = &root});
      const LiveKernel second(kernel::Anatomy{.root = &root});
    }
  };
  {
    const std::jthread other(come_and_go);
    come_and_go();
  }
  EXPECT_EQ(roots(), Roots());
}

TEST(LiveKernel, every_row_has_a_name_of_its_own) {
  std::vector<std::string> names;
  for (const DebugRow* row = calm_debug_anchor.rows; row->name != nullptr; ++row) {
    for (const std::string& name : names) EXPECT_NE(name, row->name);
    names.emplace_back(row->name);
  }
  EXPECT_GT(names.size(), 30U);
}

}  // namespace
}  // namespace calm::cx
