// cancel_story.cpp — a download is stopped, and its reason tells who did it, when, why and on whose behalf.
#include <calm/calm.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;
using calm::CancelKind;
using calm::Reason;

int main() {
  // The runtime hands out such names; here they are made by hand to have something to talk about.
  const calm::RegionId service(1, calm::Generation());
  const calm::RegionId session(7, calm::Generation());
  const calm::TaskId watchdog(3, calm::Generation());
  const calm::Time now = calm::Time() + 90s;

  // [chain]
  // A task of the service gives up. Each region passes that on to the regions inside it, with the cause attached.
  const Reason disk_full({.kind = CancelKind::resource_unavailable,
                          .region = service,
                          .task = watchdog,
                          .at = now,
                          .message = "12 MB left on /data"});
  const Reason in_session(calm::parent_cancelled(disk_full, service, now));
  const Reason in_download(calm::parent_cancelled(in_session, session, now));

  const calm::Outcome<std::string> download = calm::cancelled(in_download);
  std::cout << download.explain() << "\n\n";
  // [/chain]

  // [strengthen]
  // Two requests may meet. The more severe one wins, whichever came first; clean-up gets what both of them allow.
  const Reason too_slow({.kind = CancelKind::timeout, .region = session, .at = now - 2s, .message = "no byte for 5s"});
  const Reason both = calm::strengthen(too_slow, in_download);
  const bool same = both == calm::strengthen(in_download, too_slow);
  std::cout << "what stays: " << to_string(both) << '\n';
  std::cout << "the other way round: " << (same ? "the same" : "another story") << '\n';
  std::cout << "clean-up gets " << to_string(both.cleanup()) << '\n';
  // [/strengthen]
}

// [prints]
// prints:
//   Cancelled: ParentCancelled at 90s by r7
//     because ParentCancelled at 90s by r1
//     because ResourceUnavailable at 90s by r1 t3: "12 MB left on /data"
//     severity 4, clean-up until 95s with 200 polls at priority 220
//
//   what stays: ParentCancelled at 90s by r7
//   the other way round: the same
//   clean-up gets {deadline 93s, polls 200, cost infinite, priority 220}
// [/prints]
