#include "calm/model/reason.hpp"

#include <cstring>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/check/require.hpp"

namespace calm {
namespace {

std::uint8_t larger(std::uint8_t a, std::uint8_t b) noexcept { return a < b ? b : a; }

ReasonLevel first_level(const ReasonSpec& spec) noexcept {
  ReasonLevel level{.kind = spec.kind,
                    .severity = describe(spec.kind).severity,
                    .region = spec.region,
                    .task = spec.task,
                    .at = spec.at,
                    .cleanup = cleanup_budget(spec.kind, spec.at, spec.cleanup_time),
                    .message = spec.message};
  if (spec.cause != nullptr && *spec.cause) {
    level.severity = larger(level.severity, spec.cause->severity());
    level.cleanup = meet(level.cleanup, spec.cause->cleanup());
  }
  return level;
}

detail::ReasonBlock* make_block(const ReasonSpec& spec) noexcept {
  const ReasonView causes = spec.cause != nullptr && *spec.cause ? spec.cause->levels() : ReasonView{};
  return detail::ReasonBlock::make(first_level(spec), causes, causes.truncated);
}

}  // namespace

namespace detail {

ReasonBlock* ReasonBlock::make_room(std::size_t depth, std::size_t text_bytes) noexcept {
  const std::size_t bytes = sizeof(ReasonBlock) + depth * sizeof(ReasonLevel) + text_bytes;
  void* const memory = ::operator new(bytes, std::nothrow);
  if (memory == nullptr) return nullptr;
  auto* const block = new (memory) ReasonBlock;
  block->depth_ = static_cast<std::uint8_t>(depth);
  return block;
}

/// One is taken for every scope and every limit.
ReasonBlock* ReasonBlock::make_empty() noexcept {
  ReasonBlock* const block = make_room(1, 0);
  if (block != nullptr) std::construct_at(reinterpret_cast<ReasonLevel*>(block + 1));
  return block;
}

ReasonBlock* ReasonBlock::make(ReasonLevel first, ReasonView causes, bool truncated) noexcept {
  const std::string_view message = message_kept(first.message);
  truncated = truncated || message.size() < first.message.size();
  first.message = message;
  const std::size_t kept = causes_kept(chain_cost(first), causes);
  truncated = truncated || kept < causes.depth;
  const std::size_t depth = kept + 1;

  std::size_t text_bytes = message.size();
  for (std::size_t i = 0; i < kept; ++i) text_bytes += causes.levels[i].message.size();
  ReasonBlock* const block = make_room(depth, text_bytes);
  if (block == nullptr) return nullptr;
  block->truncated_ = truncated;
  auto* levels = reinterpret_cast<ReasonLevel*>(block + 1);
  char* text = reinterpret_cast<char*>(levels + depth);
  for (std::size_t i = 0; i < depth; ++i) {
    ReasonLevel* level = std::construct_at(levels + i, i == 0 ? first : causes.levels[i - 1]);
    if (level->message.empty()) {
      level->message = {};
      continue;
    }
    std::memcpy(text, level->message.data(), level->message.size());
    level->message = {text, level->message.size()};
    text += level->message.size();
  }
  return block;
}

void ReasonBlock::destroy(const ReasonBlock* block) noexcept {
  static_assert(std::is_trivially_destructible_v<ReasonLevel>);
  block->~ReasonBlock();
  ::operator delete(const_cast<ReasonBlock*>(block));
}

void ReasonBlock::become(ReasonLevel only) noexcept {
  only.message = {};
  *levels() = only;
  depth_ = 1;
  truncated_ = true;
}

}  // namespace detail

ReasonReserve ReasonReserve::take() noexcept {
  ReasonReserve reserve;
  reserve.block_ = mem::Ref<detail::ReasonBlock>::adopt(detail::ReasonBlock::make_empty());
  return reserve;
}

Reason Reason::adopt(detail::ReasonBlock* block) noexcept {
  Reason reason;
  reason.block_ = mem::Ref<detail::ReasonBlock>::adopt(block);
  return reason;
}

Reason::Reason(const ReasonSpec& spec) : Reason(adopt(make_block(spec))) {
  if (!block_) throw std::bad_alloc();
}

Reason::Reason(const ReasonSpec& spec, ReasonReserve reserve) noexcept : Reason(adopt(make_block(spec))) {
  if (block_) return;
  CALM_PROBE("reason: no memory, kept in the reserve");
  CALM_REQUIRE(HND_3, bool(reserve));
  reserve.block_->become(first_level(spec));
  block_ = std::move(reserve.block_);
}

Reason Reason::without_story(const ReasonLevel& level) {
  Reason reason = adopt(detail::ReasonBlock::make(level, {}, true));
  if (!reason) throw std::bad_alloc();
  return reason;
}

bool operator==(const Reason& a, const Reason& b) noexcept {
  if (!a || !b) return !a && !b;
  return compare_strength(a.levels(), b.levels()) == 0 && a.cleanup() == b.cleanup();
}

Reason strengthen(Reason a, Reason b) {
  if (!a) return b;
  if (!b) return a;
  const Budget cleanup = meet(a.cleanup(), b.cleanup());
  const bool a_is_stronger = compare_strength(a.levels(), b.levels()) <= 0;
  Reason& stronger = a_is_stronger ? a : b;
  Reason& weaker = a_is_stronger ? b : a;
  if (stronger.cleanup() == cleanup) return std::move(stronger);
  if (stronger.block_->unique()) {
    stronger.block_->set_cleanup(cleanup);
    return std::move(stronger);
  }
  const ReasonView story = stronger.levels();
  ReasonLevel first = *story.levels;
  first.cleanup = cleanup;
  if (auto* block = detail::ReasonBlock::make(first, {story.levels + 1, story.depth - 1}, story.truncated)) {
    return Reason::adopt(block);
  }
  if (!weaker.block_->unique()) throw std::bad_alloc();
  CALM_PROBE("reason: no memory, strengthened in the weaker one's place");
  weaker.block_->become(first);
  return std::move(weaker);
}

}  // namespace calm
