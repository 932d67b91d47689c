// control.hpp — a run that goes on, as other threads see it: stop it, look at it.
// Laws:    QUI-2, OBS-1
// Threads: anywhere but on workers
// Cancel:  shut_down() is one; what has been asked for before the run ends is done or told to be too late
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "calm/model/time.hpp"
#include "calm/runtime/engine.hpp"

namespace calm::runtime {

/// Knows the engine while there is one.
class Control {
 public:
  Control() = default;
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  void attach(Engine& engine);
  /// After this nobody reaches the engine.
  void detach();

  /// Does this on a worker and waits until it was done. Gives: false when nothing runs.
  bool ask(const std::function<void(Engine&, kernel::Worker&)>& question);

  /// Asks the program to stop. Gives: false when nothing runs.
  bool shut_down();
  /// Gives: the text of Engine; nothing when nothing runs.
  [[nodiscard]] std::string inspect();
  [[nodiscard]] std::string stragglers();

 private:
  std::mutex mutex_;
  Engine* engine_ = nullptr;
  mem::Ref<cx::Gateway> gateway_;
};

}  // namespace calm::runtime
