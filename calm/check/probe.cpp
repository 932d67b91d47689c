#include "calm/check/probe.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace calm::check {

// Every probe of the program, newest first. Only ever grows.
class ProbeList {
 public:
  static void push(Probe& probe) noexcept {
    probe.next_ = head_.load(std::memory_order_relaxed);      // stale: the exchange fails and brings the newer one
    while (!head_.compare_exchange_weak(probe.next_, &probe,  // [P1]
                                        std::memory_order_release, std::memory_order_relaxed)) {
    }
  }

  static Probe* first() noexcept { return head_.load(std::memory_order_acquire); }  // [P1]
  static Probe* after(const Probe& probe) noexcept { return probe.next_; }

  static std::atomic_ref<std::uint64_t> hits(const Probe& probe) noexcept { return std::atomic_ref(probe.hits_); }

 private:
  // [P1] push releases next_ -> first acquires. A later push continues the release sequence of the earlier ones.
  static constinit inline std::atomic<Probe*> head_{nullptr};
};

std::uint64_t Probe::hits() const noexcept { return ProbeList::hits(*this).load(std::memory_order_relaxed); }
void Probe::hit() noexcept { ProbeList::hits(*this).fetch_add(1, std::memory_order_relaxed); }

void reset_probes() noexcept {
  for (Probe* probe = ProbeList::first(); probe != nullptr; probe = ProbeList::after(*probe)) {
    ProbeList::hits(*probe).store(0, std::memory_order_relaxed);
  }
}

namespace detail {

ProbeRegistration::ProbeRegistration(Probe& probe) noexcept { ProbeList::push(probe); }

void for_each_probe(void (*visit)(void* context, const Probe& probe), void* context) {
  std::vector<const Probe*> probes;
  for (const Probe* probe = ProbeList::first(); probe != nullptr; probe = ProbeList::after(*probe)) {
    probes.push_back(probe);
  }
  std::sort(probes.begin(), probes.end(), [](const Probe* a, const Probe* b) {
    if (const int order = std::strcmp(a->file(), b->file()); order != 0) return order < 0;
    if (a->line() != b->line()) return a->line() < b->line();
    return std::strcmp(a->name(), b->name()) < 0;
  });
  for (const Probe* probe : probes) visit(context, *probe);
}

void write_probes(void (*write)(void* context, const char* line), void* context) {
  check::for_each_probe([write, context](const Probe& probe) {
    const std::string line =
        std::to_string(probe.hits()) + '\t' + probe.file() + ':' + std::to_string(probe.line()) + '\t' + probe.name();
    write(context, line.c_str());
  });
}

}  // namespace detail
}  // namespace calm::check
