// show.hpp — calm's values in GoogleTest and RapidCheck messages.
#pragma once

#include <ostream>

#include "calm/calm.hpp"

namespace calm {

template <class T>
concept HasText = requires(const T& value) { to_string(value).size(); };

template <HasText T>
std::ostream& operator<<(std::ostream& out, const T& value) {
  return out << to_string(value);
}

inline std::ostream& operator<<(std::ostream& out, const Reason& reason) { return out << reason.explain(); }

}  // namespace calm
