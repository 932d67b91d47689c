// ref.hpp — shared ownership of immutable blocks: an intrusive count and the pointer that minds it.
// Laws:    none of its own; reasons (CAN-2), errors (HND-2) and notes (OUT-5) stand on it
// Threads: a block may be shared by any threads; one Ref object belongs to one thread at a time
// Cancel:  not applicable
//
// The counting is out of line: copies happen on failure paths only, and <atomic> would double the price of this header.
#pragma once

#include <cstdint>
#include <utility>

namespace calm::mem {

/// Base of a block that counts its owners. A new block has one.
class RefCounted {
 public:
  RefCounted() noexcept = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  void retain() const noexcept;

  /// Gives: true for the last owner, who must destroy the block and sees all that the others did to it.
  [[nodiscard]] bool release() const noexcept;

  /// Gives: true when the caller, an owner, is the only one; it may then write to the block.
  [[nodiscard]] bool unique() const noexcept;

 protected:
  ~RefCounted() = default;

 private:
  mutable std::uint32_t owners_ = 1;
};

/// Owning pointer to a block T that derives from RefCounted and offers `static void destroy(const T*) noexcept`.
template <class T>
class Ref {
 public:
  constexpr Ref() noexcept = default;

  /// Takes over the one ownership a new block is born with.
  static Ref adopt(T* block) noexcept {
    Ref ref;
    ref.block_ = block;
    return ref;
  }

  constexpr Ref(const Ref& other) noexcept : block_(other.block_) {
    if (block_ != nullptr) block_->retain();
  }
  constexpr Ref(Ref&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  constexpr Ref& operator=(Ref other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  constexpr ~Ref() {
    if (block_ != nullptr && block_->release()) T::destroy(block_);
  }

  [[nodiscard]] constexpr T* get() const noexcept { return block_; }
  constexpr T* operator->() const noexcept { return block_; }
  constexpr T& operator*() const noexcept { return *block_; }
  constexpr explicit operator bool() const noexcept { return block_ != nullptr; }

  /// Gives the ownership away without counting down.
  [[nodiscard]] constexpr T* leak() noexcept { return std::exchange(block_, nullptr); }

 private:
  T* block_ = nullptr;
};

}  // namespace calm::mem
