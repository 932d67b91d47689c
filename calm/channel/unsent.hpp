// unsent.hpp — a value that could not be sent, and why: what every failed send gives back.
// Laws:    CHN-3, CHN-8
// Threads: a value like its T
// Cancel:  says that the wait was cancelled, and for what reason
#pragma once

#include <type_traits>
#include <utility>

#include "calm/model/error_code.hpp"
#include "calm/model/outcome.hpp"
#include "calm/model/reason.hpp"

namespace calm::channel {

template <class T>
struct Unsent {
  /// full, disconnected or cancelled; resource_exhausted where a value needs memory; for wrong use of a permit
  /// obligation_already_resolved or invalid_argument.
  Errc code;
  T value;
  Reason reason{};  ///< when it is cancelled
};

/// How a send ended: Ok, or Err with the value in it. A cancelled wait is an Err too: the value must not be lost.
template <class T>
using Sent = Outcome<void, Unsent<T>>;

template <class T>
  requires(!std::is_reference_v<T>)
Err<Unsent<T>> unsent(Errc code, T&& value, Reason reason = {}) {
  return {Unsent<T>{code, std::forward<T>(value), std::move(reason)}};
}

}  // namespace calm::channel
