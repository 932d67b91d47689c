// traces.hpp — a run with every kind of event a kernel records, and names for it.
#pragma once

#include "calm/trace/names.hpp"
#include "tests/kernel_host.hpp"

namespace calm::observe {

/// A server region with a listener, a request region below it and a finalizer; the root is shut down. The handler of the
/// request holds a promise and answers the cancel, a stubborn task does not and is ended by force.
inline trace::NamedTrace shutdown_of_a_server() {
  kernel::Bench bench;
  kernel::LocalKernel& kernel = *bench.kernel;
  kernel::Worker& worker = bench.worker;
  const auto since = [&worker] { return worker.recorder().last(); };

  const TaskId main = bench.running(bench.root());
  const RegionId server = bench.region(bench.root(), {.owner = main});
  const std::uint64_t opened = since();
  const TaskId listener = bench.task(server, {.cause = opened});
  const TaskId finalizer = kernel.defer(worker, server, nullptr).id;
  (void)kernel.end_poll(worker, main);
  worker.record({.kind = trace::EventKind::choice, .argument = 1});
  (void)kernel.begin_poll(worker, listener, opened);
  const RegionId request = bench.region(server, {.owner = listener});
  const TaskId handler = bench.task(request, {.cause = since()});
  const TaskId stubborn = bench.task(request, {.cause = since()});
  worker.record({.kind = trace::EventKind::access,
                 .access = trace::Access::write,
                 .task = listener,
                 .resource = trace::ResourceId::registered(1)});
  (void)kernel.end_poll(worker, listener);

  bench.at(Time() + Duration::milliseconds(2));
  (void)kernel.begin_poll(worker, handler, since());
  const ObligationId ack = kernel.reserve(worker, request, {.kind = ObligationKind::ack, .holder = handler}).id;
  (void)kernel.reserve(worker, request, {.kind = ObligationKind::lease, .holder = handler});
  (void)kernel.end_poll(worker, handler);
  (void)kernel.begin_poll(worker, stubborn, 0);
  (void)kernel.end_poll(worker, stubborn);

  bench.at(Time() + Duration::milliseconds(5));
  worker.record({.kind = trace::EventKind::timer, .task = handler});
  (void)kernel.wake(worker, handler);
  (void)kernel.begin_poll(worker, handler, since());
  (void)kernel.commit(worker, ack);
  (void)kernel.end_poll(worker, handler);

  bench.at(Time() + Duration::milliseconds(9));
  (void)kernel.cancel(worker, bench.root(), {.kind = CancelKind::shutdown, .message = "SIGTERM"});
  bench.host.queue.clear();
  const std::uint64_t cancelled = since();
  for (const TaskId task : {main, listener, handler}) {
    (void)kernel.begin_poll(worker, task, cancelled);
    (void)kernel.checkpoint(worker, task);
    (void)kernel.complete(worker, task, ok());
  }
  while (kernel.begin_poll(worker, stubborn, cancelled) == kernel::PollStart::run) {
    (void)kernel.end_poll(worker, stubborn);
    (void)kernel.wake(worker, stubborn);
  }
  (void)kernel.complete(worker, stubborn, ok());
  (void)kernel.begin_poll(worker, finalizer, since());
  (void)kernel.complete(worker, finalizer, ok());

  trace::NamedTrace named{.trace = kernel.trace().value(), .names = {}};
  // [names]
  named.names.tasks = {{main, {"main", "server.cpp:12 in main", "server.cpp:20 in main"}},
                       {listener, {"listener", "server.cpp:31 in serve", "server.cpp:34 in accept"}},
                       {handler, {"handler </script><b>&", "server.cpp:40 in serve", {}}}};
  named.names.resources = {{bench.root(), "root"}, {server, "server"}, {request, "request"}};
  // [/names]
  return named;
}

}  // namespace calm::observe
