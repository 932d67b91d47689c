#include "program_shrink.hpp"

#include <utility>

namespace calm::programs {
namespace {

class Shrinker {
 public:
  Shrinker(Program program, const std::function<bool(const Program&)>& fails)
      : program_(std::move(program)), fails_(fails) {}

  Program run() {
    while (smaller(program_.body)) {
    }
    return std::move(program_);
  }

 private:
  /// Tries what can be done in this block and below, largest first. Gives: whether anything still failed.
  bool smaller(Block& block) {
    bool any = false;
    for (std::size_t i = 0; i < block.size();) {
      if (without(block, i) || opened(block, i)) {
        any = true;
        continue;
      }
      any = smaller(block[i].body) || any;
      any = lower(block[i].a) || any;
      any = lower(block[i].b) || any;
      ++i;
    }
    return any;
  }

  bool without(Block& block, std::size_t at) {
    const Block was = block;
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    return keep_or(block, was);
  }

  /// Puts the body of a statement in its place.
  bool opened(Block& block, std::size_t at) {
    if (block[at].body.empty()) return false;
    const Block was = block;
    const Block body = std::move(block[at].body);
    const auto place = block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    block.insert(place, body.begin(), body.end());
    return keep_or(block, was);
  }

  bool lower(std::uint32_t& number) {
    const std::uint32_t was = number;
    for (const std::uint32_t smaller : {0U, 1U, was / 2, was - 1}) {
      if (smaller >= was) continue;
      number = smaller;
      if (fails_(program_)) return true;
    }
    number = was;
    return false;
  }

  bool keep_or(Block& block, const Block& was) {
    if (fails_(program_)) return true;
    block = was;
    return false;
  }

  Program program_;
  const std::function<bool(const Program&)>& fails_;
};

}  // namespace

Program shrink(Program program, const std::function<bool(const Program&)>& fails) {
  return Shrinker(std::move(program), fails).run();
}

}  // namespace calm::programs
