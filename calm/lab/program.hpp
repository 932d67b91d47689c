// program.hpp — a program that the lab can start as often as it likes.
// Laws:    TSK-5, LAB-1
// Threads: one
// Cancel:  not applicable
#pragma once

#include "calm/cx/cx.hpp"
#include "calm/cx/port.hpp"
#include "calm/cx/scope.hpp"
#include "calm/cx/spawned.hpp"

namespace calm::lab {

/// The program with its value dropped, as the root task of a run.
class Program {
 public:
  virtual ~Program() = default;
  /// Gives: a shell that the run must let go. Fails: std::bad_alloc.
  virtual cx::TaskRoot& make(cx::Port& port) = 0;
};

/// Each run gets a copy of the function. Needs: it outlives this object.
template <class F>
class ProgramOf final : public Program {
 public:
  explicit ProgramOf(const F& function) noexcept : function_(function) {}
  cx::TaskRoot& make(cx::Port& port) override {
    using T = cx::TaskValue<F, Cx>;
    auto shell = mem::Ref<cx::Shell<T>>::adopt(new cx::Shell<T>(port));
    shell->begin(cx::keep<T>(Cx(shell->context()), F(function_)));
    return *shell.leak();
  }

 private:
  const F& function_;
};

}  // namespace calm::lab
