// names.hpp — what a report calls a task: its id, and its name or the function it began in.
// Laws:    LAB-6 (reports name tasks), OBS-1
// Threads: by whoever polls the tasks, between polls
// Cancel:  not applicable
#pragma once

#include <map>
#include <string>

#include "calm/cx/task_root.hpp"
#include "calm/kernel/config.hpp"
#include "calm/model/id.hpp"

namespace calm::lab {

/// Gives: the name it was spawned with; else the function of its outermost frame that is not calm's own, `worker_loop`, `a lambda in main`; nothing when no
///        frame has come to an await point yet.
std::string task_name(const cx::TaskRoot& root);

/// Gives: the await point of its innermost frame that is not calm's own; one that names no place when there is none.
kernel::Site user_site(const cx::TaskRoot& root) noexcept;

/// Gives: `worker.cpp:88 in worker_loop`; nothing for a site that names no place.
std::string place_text(kernel::Site site);

class Names {
 public:
  void add(TaskId task, std::string name) { names_.insert_or_assign(task, std::move(name)); }
  /// Gives: `t4 (worker_loop)`; `t4` when it has no name.
  [[nodiscard]] std::string of(TaskId task) const;

 private:
  std::map<TaskId, std::string> names_;
};

}  // namespace calm::lab
