#include "calm/lab/threads.hpp"

#include "calm/explore/columns.hpp"

namespace calm::lab {

std::string explain(const Threads::Setup& program, const ThreadsReport& report, const Machine& machine) {
  const std::string executions = std::to_string(report.executions) + " executions";
  if (report.failures.empty())
    return "calm: " + executions + (report.exhausted ? ", all there are" : ", not all") + "\n";
  const explore::Failure& first = report.failures.front();
  Threads threads(program, machine);
  return "calm: execution " + std::to_string(first.execution) + " of " + std::to_string(report.executions) + ": " +
         first.problem + "\n" + explore::columns(threads, first.schedule, first.ways);
}

}  // namespace calm::lab
