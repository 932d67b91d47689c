// world.hpp — a kernel and its host while a scenario runs: names become records, and what differs is written down.
// Laws:    LAB-11, LAB-12
// Threads: one
// Cancel:  not applicable
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "apps/calm/scenario/channel.hpp"
#include "apps/calm/scenario/expression.hpp"
#include "apps/calm/scenario/host.hpp"
#include "apps/calm/scenario/port.hpp"
#include "apps/calm/scenario/program.hpp"
#include "apps/calm/scenario/scenario.hpp"
#include "calm/kernel/kernel.hpp"
#include "calm/model/witness.hpp"
#include "calm/trace/reader.hpp"

namespace calm::scenario {

/// Adds a text to a list that is read by people: `a, b, c`.
inline void append(std::string& list, const std::string& text) { list.append(list.empty() ? "" : ", ").append(text); }
/// Gives: the list, or how an empty one is written.
inline std::string or_none(const std::string& list) { return list.empty() ? "(none)" : list; }

/// Something that came out otherwise than the file says.
struct Difference {
  Place place;
  std::string what;  ///< `region "r1": state`
  std::string expected;
  std::string found;
};

class World {
 public:
  using Kernel = kernel::LocalKernel;

  /// Fails: Problem when the configuration makes no kernel.
  World(const Scenario& scenario, const kernel::Profile& profile);
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  /// Programs that have not ended are dropped where they stand.
  ~World();

  [[nodiscard]] Kernel& kernel() noexcept { return *kernel_; }
  [[nodiscard]] kernel::Worker& worker() noexcept { return kernel_->worker(0); }
  [[nodiscard]] ScenarioHost& host() noexcept { return host_; }
  [[nodiscard]] ScenarioPort& port() noexcept { return port_; }

  // Names. The loader has seen to it that each is known; one whose step went wrong names nothing.
  [[nodiscard]] RegionId region(std::string_view name) const;
  [[nodiscard]] TaskId task(std::string_view name) const;
  [[nodiscard]] ObligationId obligation(std::string_view name) const;
  /// Gives: an empty id when the step does not have the field.
  [[nodiscard]] RegionId region_in(const Step& step, std::string_view key) const;
  [[nodiscard]] TaskId task_in(const Step& step, std::string_view key) const;
  [[nodiscard]] kernel::Holder holder_in(const Step& step, std::string_view key) const;

  /// The name that this repetition of the step gives.
  [[nodiscard]] std::string new_name(const Step& step) const;
  void add(const std::string& name, RegionId id) { regions_[name] = id; }
  void add(const std::string& name, TaskId id) { tasks_[name] = id; }
  void add(const std::string& name, ObligationId id) { obligations_[name] = id; }
  void set_repetition(std::uint64_t number) noexcept { repetition_ = number; }

  /// Gives: the name in the file, or the id when the file has none for it.
  [[nodiscard]] std::string name_of(RegionId id) const;
  [[nodiscard]] std::string name_of(TaskId id) const;
  [[nodiscard]] std::string name_of(ObligationId id) const;

  // Programs: tasks that do what steps say.
  Program& add_program() { return *programs_.emplace_back(std::make_unique<Program>(*this)); }
  /// Gives: nullptr when the task is no program, or has ended.
  [[nodiscard]] Program* program(TaskId task) const;

  /// Compares a field, if the step has it, with what was found.
  void expect(const Step& step, std::string_view key, const std::string& found);
  void expect(const Step& step, std::string_view key, bool found);
  void expect(const Step& step, std::string_view key, std::uint64_t found);
  /// The same for the value behind the verb.
  void expect_subject(const Step& step, const std::string& found);
  void differ(const Step& step, std::string_view what, std::string expected, std::string found);
  [[nodiscard]] const std::vector<Difference>& differences() const noexcept { return differences_; }

  // Polls. Some operations may only be made in the poll of their task.
  void begin(TaskId task) { polled_.insert(task); }
  void end(TaskId task) { polled_.erase(task); }
  /// Fails: Problem when the task of this step is not being polled.
  void demand_poll(const Step& step, TaskId task) const;
  /// Fails: Problem when a worker dispatches: then nobody else polls.
  void demand_no_worker(const Step& step) const;

  /// Takes over what the ring holds before it is overwritten; called after every operation, so that a profile with a
  /// small ring gives the same digest (PRF-1).
  void keep_trace();
  /// The same, whatever the ring has room for.
  void read_trace();
  [[nodiscard]] const trace::Trace& trace() const noexcept { return trace_; }
  [[nodiscard]] std::uint64_t digest() { return kernel_->digest(worker()); }

  Values values;
  std::map<std::string, Witness, std::less<>> witnesses;
  std::map<std::string, std::uint64_t, std::less<>> marks;
  std::vector<std::string> destroyed;  ///< labels of heap objects, in the order of their end
  std::map<std::string, TimerId, std::less<>> timers;
  std::map<std::string, std::unique_ptr<Channel>, std::less<>> channels;
  std::map<std::string, HeldPlace, std::less<>> places;
  std::map<std::string, Delivered, std::less<>> deliveries;

 private:
  ScenarioHost host_;
  std::unique_ptr<Kernel> kernel_;
  ScenarioPort port_;
  std::vector<std::unique_ptr<Program>> programs_;
  std::map<std::string, RegionId, std::less<>> regions_;
  std::map<std::string, TaskId, std::less<>> tasks_;
  std::map<std::string, ObligationId, std::less<>> obligations_;
  std::set<TaskId> polled_;
  std::uint64_t repetition_ = 0;
  trace::Trace trace_;
  std::vector<Difference> differences_;
};

}  // namespace calm::scenario
