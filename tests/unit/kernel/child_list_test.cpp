// The list of a region's tasks beside a vector.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "calm/kernel/region_record.hpp"

namespace calm::kernel {
namespace {

std::vector<const ChildLink*> all_of(const ChildList& list) {
  std::vector<const ChildLink*> found;
  for (const ChildLink* link = list.first(); link != nullptr; link = list.behind(*link)) found.push_back(link);
  return found;
}

TEST(ChildList, is_empty_again_when_its_last_node_is_taken_out) {
  ChildList list;
  EXPECT_EQ(list.first(), nullptr);
  ChildLink node;
  for (int round = 0; round < 2; ++round) {
    list.append(node);
    EXPECT_EQ(list.first(), &node);
    EXPECT_EQ(list.behind(node), nullptr);
    ChildList::remove(node);
    EXPECT_EQ(list.first(), nullptr);
  }
}

TEST(ChildList, CAN_5_keeps_the_order_in_which_nodes_came_whichever_leave) {
  ChildList list;
  std::array<ChildLink, 24> nodes;
  std::vector<const ChildLink*> expected;
  std::vector<bool> in(nodes.size());
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same every time
  for (int step = 0; step < 20'000; ++step) {
    const std::size_t at = random() % nodes.size();
    ChildLink& node = nodes[at];
    const auto place = std::find(expected.begin(), expected.end(), &node);
    if (in[at]) {
      ChildList::remove(node);
      expected.erase(place);
    } else if (expected.empty() || random() % 4 != 0) {
      list.append(node);
      expected.push_back(&node);
    } else {
      const std::size_t before = random() % expected.size();
      ChildList::insert_before(const_cast<ChildLink&>(*expected[before]), node);
      expected.insert(expected.begin() + static_cast<std::ptrdiff_t>(before), &node);
    }
    in[at] = !in[at];
    ASSERT_EQ(all_of(list), expected) << "after step " << step;
  }
}

}  // namespace
}  // namespace calm::kernel
