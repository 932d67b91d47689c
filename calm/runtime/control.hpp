// control.hpp — a run that goes on, as other threads see it: stop it, look at it.
// Laws:    QUI-2, QUI-3 (nobody waits for ever for a worker whose poll does not end), OBS-1, GHO-3
// Threads: anywhere; who waits for an answer, anywhere but on workers
// Cancel:  shut_down() is one; what has been asked for before the run ends is done or told to be too late
#pragma once

#include <functional>
#include <mutex>
#include <string>

#include "calm/model/time.hpp"
#include "calm/runtime/engine.hpp"
#include "calm/runtime/stall_watch.hpp"

namespace calm::runtime {

class Question;  // NOLINT(cppcoreguidelines-virtual-class-destructor): it is final, and never deleted as its base

/// Knows the engine while there is one.
class Control {
 public:
  Control() = default;
  Control(const Control&) = delete;
  Control& operator=(const Control&) = delete;

  /// `may_be_asked`: somebody outside can reach this. A run that can be stopped from outside is not stuck, whatever it waits for.
  void attach(Engine& engine, bool may_be_asked);
  /// After this nobody reaches the engine.
  void detach();

  /// Asks the program to stop; returns at once. A worker does it between two polls. Gives: false when nothing runs.
  bool shut_down();
  /// Gives: the text of Engine; when each worker is in a poll that does not end, who that is; nothing when nothing runs.
  [[nodiscard]] std::string inspect();
  [[nodiscard]] std::string stragglers();

 private:
  /// A worker that is in one poll for so long will not answer, as far as one can tell.
  static constexpr Duration patience = Duration::seconds(1);
  using Answer = std::function<std::string(Engine&, kernel::Worker&)>;

  mem::Ref<Question> hand_in(Answer answer, bool is_order);
  std::string ask(Answer answer);
  /// Gives: who keeps the workers from answering; nothing as long as one of them may.
  std::string who_is_stuck(bool waits_no_more);

  std::mutex mutex_;
  Engine* engine_ = nullptr;
  mem::Ref<cx::Gateway> caller_;  // as who may come at any time (gateway.hpp)
  StallWatch polls_{{}, {}};
};

}  // namespace calm::runtime
