// LAB-10: the reference model beside the kernel. tests/reference has the model, the programs and the whole campaign; here is
// what the law promises, on programs that take a moment.
#include <gtest/gtest.h>

#include "tests/reference/campaign.hpp"

namespace calm::reference {
namespace {

TEST(Reference, LAB_10_a_reference_model_runs_beside_the_kernel_on_random_programs) {
  Coverage coverage;
  const std::string said = campaign(1'000'000, 200, coverage);
  EXPECT_TRUE(said.empty()) << said;
}

TEST(Reference, LAB_10_any_difference_is_a_failure) {
  for (const Fault fault : {Fault::forget_strengthening, Fault::oldest_finalizer_first, Fault::lose_wake_during_poll}) {
    Coverage coverage;
    const std::string said = campaign(1, 200, coverage, fault);
    EXPECT_NE(said.find("law:  LAB-10"), std::string::npos) << static_cast<int>(fault) << said;
    EXPECT_NE(said.find("TEST(Found, LAB_10_seed_"), std::string::npos) << "it is printed as a ready test";
  }
}

}  // namespace
}  // namespace calm::reference
