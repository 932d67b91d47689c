// words.hpp — an event explained to someone who meets it for the first time.
// Laws:    LAB-2, LAB-9
// Threads: pure functions
// Cancel:  not applicable
#pragma once

#include <string>
#include <string_view>

#include "calm/observe/story.hpp"
#include "calm/trace/names.hpp"

namespace calm::observe {

/// What a kind of event is in general.
struct KindLore {
  trace::EventKind kind;
  std::string_view means;  ///< a sentence or two
  std::string_view laws;   ///< ids of spec/SPEC.md, separated by blanks
};

/// Gives: the lore of a kind. Needs: a kind of the enum.
[[nodiscard]] const KindLore& lore_of(trace::EventKind kind) noexcept;

/// Gives: what this one event says, as a sentence: `t4 listener asks r1 server for …`. Fails: std::bad_alloc.
[[nodiscard]] std::string sentence_of(const trace::Event& event, const trace::Names& names);

/// Gives: everything that is known of an event, on several lines: what it says and means, where and when, its cause.
/// Needs: an index of an event of this trace. Fails: std::bad_alloc.
[[nodiscard]] std::string explain(const trace::Trace& trace, std::size_t event, const trace::Names& names);

}  // namespace calm::observe
