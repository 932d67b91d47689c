// probe.hpp — marks a rare branch and counts how often it ran; a branch that never ran is listed with 0 hits.
// Laws:    none
// Threads: everything anywhere, also before main
// Cancel:  not applicable
#pragma once

#include <cstddef>
#include <cstdint>

#include "calm/check/place.hpp"

/// Needs: a string literal.
/// Gives: one more hit for the probe of this name, file and line. It is one probe, however many files include the line
///        and however many instances a template has. In a constant expression nothing is counted.
/// With CALM_NO_PROBES there are no probes; the choice must be one for the whole program, as that of CALM_SLOW_CHECKS.
#if defined(CALM_NO_PROBES)
#define CALM_PROBE(name) static_cast<void>("" name)
#else
#define CALM_PROBE(name) ::calm::check::detail::ProbeSite<"" name, CALM_PROBE_FILE_(__FILE__), __LINE__>::hit()
#define CALM_PROBE_FILE_(file)                                                                         \
  ::calm::check::detail::FixedString<::calm::check::detail::size_of(::calm::check::short_file(file))>( \
      ::calm::check::short_file(file))
#endif

namespace calm::check {

class Probe {
 public:
  constexpr Probe(const char* name, const char* file, int line) noexcept : name_(name), file_(file), line_(line) {}

  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  const char* name() const noexcept { return name_; }
  const char* file() const noexcept { return file_; }  // as short_file shows it
  int line() const noexcept { return line_; }
  std::uint64_t hits() const noexcept;  // those of other threads may show late

  void hit() noexcept;

 private:
  friend class ProbeList;

  const char* name_;
  const char* file_;
  int line_;
  /// Touched only through std::atomic_ref, relaxed, so that this header needs no <atomic>: a stale read misses a hit
  /// that is happening now, and nothing else is published with it.
  mutable std::uint64_t hits_ = 0;
  Probe* next_ = nullptr;  // written before the probe is in the list, never after
};

/// Gives: visit(const Probe&) for every probe linked into the program, hit or not, ordered by file, line and name. A
///        library loaded later adds its own and must stay loaded: a probe never leaves the list.
/// Fails: with std::bad_alloc, or with what `visit` throws.
template <class Visit>
void for_each_probe(Visit visit);

/// Gives: write(const char*) for every probe, in the same order: "hits<TAB>file:line<TAB>name", without a newline.
template <class Write>
void write_probes(Write write);

/// Gives: 0 hits everywhere; a hit that happens meanwhile may count or not.
void reset_probes() noexcept;

namespace detail {

void for_each_probe(void (*visit)(void* context, const Probe& probe), void* context);
void write_probes(void (*write)(void* context, const char* line), void* context);

constexpr std::size_t size_of(const char* text) noexcept {
  std::size_t size = 1;
  for (; *text != '\0'; ++text) ++size;
  return size;
}

/// A string as a template argument.
template <std::size_t size>
struct FixedString {
  // NOLINTNEXTLINE(google-explicit-constructor): a literal is the template argument
  constexpr FixedString(const char (&literal)[size]) noexcept : FixedString(static_cast<const char*>(literal)) {}
  constexpr explicit FixedString(const char* from) noexcept {
    for (std::size_t i = 0; i < size; ++i) text[i] = from[i];
  }

  char text[size]{};
};

struct ProbeRegistration {
  explicit ProbeRegistration(Probe& probe) noexcept;
};

/// Name, file and line are the identity: the linker folds equal ones into one. The probe is constant-initialised and
/// counts from the first instruction on; the registration runs among the initialisers of the file with the branch.
template <FixedString name, FixedString file, int line>
class ProbeSite {
 public:
  static constexpr void hit() noexcept {
    if (__builtin_is_constant_evaluated()) return;
    static_cast<void>(&registration_);  // this use is what makes the compiler create it, even if the branch never runs
    probe_.hit();
  }

 private:
  static constinit inline Probe probe_{name.text, file.text, line};
  static inline const ProbeRegistration registration_{probe_};
};

}  // namespace detail

template <class Visit>
void for_each_probe(Visit visit) {
  detail::for_each_probe([](void* context, const Probe& probe) { (*static_cast<Visit*>(context))(probe); }, &visit);
}

template <class Write>
void write_probes(Write write) {
  detail::write_probes([](void* context, const char* line) { (*static_cast<Write*>(context))(line); }, &write);
}

}  // namespace calm::check
