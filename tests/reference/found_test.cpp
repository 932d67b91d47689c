// Programs on which kernel and reference model once differed, or did not come to rest: shrunk, as they were printed.
#include <gtest/gtest.h>

#include "campaign.hpp"

namespace calm::reference {
namespace {

void expect_same(const Program& program) {
  const std::string said = difference(program);
  EXPECT_TRUE(said.empty()) << said;
}

TEST(Found, LAB_10_a_promise_below_does_not_wait_for_a_finalizer_that_waits_for_its_region) {
  expect_same({{0, 0, 0, 0, 0},
               {
                   {Do::defer, 0, 0, 0, 0},
                   {Do::create_region, 0, 0, 0, 0},
                   {Do::reserve, 3, 1, 0, 0},
                   {Do::hand_over, 0, 0, 4, 0},
               }});
}

TEST(Found, LAB_10_nor_for_one_that_was_cancelled_while_it_waited) {
  expect_same({{0, 0, 0, 0, 0},
               {
                   {Do::defer, 0, 0, 0, 0},
                   {Do::create_region, 0, 0, 0, 0},
                   {Do::request_cancel, 0, 0, 0, 0},
                   {Do::reserve, 16, 0, 0, 0},
                   {Do::hand_over, 0, 0, 4, 0},
               }});
}

TEST(Found, LAB_10_a_region_does_not_wait_for_what_its_forced_owner_holds) {
  expect_same({{0, 0, 0, 0, 1},
               {
                   {Do::spawn, 0, 0, 0, 0},
                   {Do::create_region, 0, 0, 0, 0},
                   {Do::leave_mask, 0, 0, 0, 0},
                   {Do::reserve, 3, 1, 4, 0},
               }});
}

TEST(Found, LAB_10_nor_does_a_region_below_that_one) {
  expect_same({{0, 0, 0, 0, 1},
               {
                   {Do::spawn, 0, 0, 0, 0},
                   {Do::create_region, 0, 0, 0, 0},
                   {Do::leave_mask, 0, 0, 0, 0},
                   {Do::create_region, 3, 1, 0, 0},
                   {Do::reserve, 19, 1, 4, 0},
               }});
}

TEST(Found, LAB_10_the_mask_of_a_finalizer_has_a_poll_cap_as_well) {
  expect_same({{0, 0, 0, 0, 0},
               {
                   {Do::defer, 0, 0, 0, 0},
                   {Do::spawn, 0, 0, 0, 0},
                   {Do::create_region, 0, 0, 2784, 0},
                   {Do::defer, 0, 0, 0, 0},
                   {Do::end_poll, 0, 0, 0, 0},
                   {Do::end_poll, 0, 1, 0, 0},
                   {Do::defer, 3, 0, 0, 0},
                   {Do::cancel, 0, 1, 0, 0},
                   {Do::poll_next, 0, 0, 0, 0},
                   {Do::enter_mask, 0, 0, 0, 0},
                   {Do::spin, 48, 0, 3, 0},
               }});
}

TEST(Found, LAB_10_who_waits_to_be_forced_keeps_no_promise_that_another_region_waits_for) {
  expect_same({{0, 0, 0, 0, 1},
               {
                   {Do::create_region, 0, 0, 0, 0},
                   {Do::defer, 3, 0, 0, 0},
                   {Do::defer, 0, 0, 0, 0},
                   {Do::create_region, 3, 0, 0, 0},
                   {Do::defer, 3, 0, 0, 0},
                   {Do::reserve, 0, 0, 0, 0},
                   {Do::reserve, 19, 1, 0, 0},
                   {Do::reserve, 0, 0, 0, 0},
                   {Do::spawn, 0, 0, 0, 0},
                   {Do::reserve, 0, 0, 0, 0},
                   {Do::cancel, 0, 1, 0, 0},
                   {Do::hand_over, 16, 48, 4, 0},
                   {Do::end_poll, 0, 0, 0, 0},
                   {Do::create_region, 0, 32, 0, 0},
                   {Do::reserve, 3, 1, 0, 0},
                   {Do::hand_over, 64, 0, 4, 0},
               }});
}

}  // namespace
}  // namespace calm::reference
