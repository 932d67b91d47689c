// names.hpp — what people call the tasks and resources of a run, and where they come from in the source.
// Laws:    LAB-12 (an event has no source site and a digest sees none: all of that stands here, beside the events)
// Threads: values
// Cancel:  not applicable
#pragma once

#include <map>
#include <string>

#include "calm/model/id.hpp"
#include "calm/trace/reader.hpp"
#include "calm/trace/resource.hpp"

namespace calm::trace {

/// What is known of one task; what is empty is not known. A site is a text such as `worker.cpp:88 in serve`.
struct TaskName {
  std::string name;
  std::string spawn_site;
  std::string await_site;  ///< where it was suspended when last looked at

  friend bool operator==(const TaskName&, const TaskName&) = default;
};

/// Who runs a program fills it in; every reader of a trace does without it as well.
struct Names {
  std::map<TaskId, TaskName> tasks;
  std::map<ResourceId, std::string> resources;  ///< regions are resources too

  [[nodiscard]] bool empty() const noexcept { return tasks.empty() && resources.empty(); }

  friend bool operator==(const Names&, const Names&) = default;
};

/// A trace and what its records are called.
struct NamedTrace {
  Trace trace;
  Names names;

  friend bool operator==(const NamedTrace&, const NamedTrace&) = default;
};

}  // namespace calm::trace
