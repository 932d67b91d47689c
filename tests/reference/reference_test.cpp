// The reference model beside the kernel: ten thousand programs of two hundred operations, the same ones in every run.
// CALM_REFERENCE_SEQUENCES asks for another number of programs, CALM_REFERENCE_SEED for another first seed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "campaign.hpp"

namespace calm::reference {
namespace {

constexpr std::uint64_t parts = 10;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr || *text == '\0' ? otherwise : std::strtoull(text, nullptr, 10);
}

/// One tenth of the programs each, so that they run side by side.
class Reference : public testing::TestWithParam<std::uint64_t> {};

TEST_P(Reference, LAB_10_kernel_and_reference_model_agree_after_every_operation) {
  const std::uint64_t count = (number_from("CALM_REFERENCE_SEQUENCES", 10'000) + parts - 1) / parts;
  const std::uint64_t first = number_from("CALM_REFERENCE_SEED", 1) + GetParam() * count;
  Coverage coverage;
  const std::string said = campaign(first, count, coverage);
  EXPECT_TRUE(said.empty()) << said;
}

INSTANTIATE_TEST_SUITE_P(Seeds, Reference, testing::Range(std::uint64_t{0}, parts));

}  // namespace
}  // namespace calm::reference
