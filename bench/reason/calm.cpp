// The way of calm: Reason, one block for a whole story.
#include "calm/model/reason.hpp"

#include "bench/reason/workload.hpp"

namespace {

calm::ReasonSpec spec(const bench::Request& request) {
  return {.kind = request.kind,
          .region = calm::RegionId(request.region, calm::Generation()),
          .at = calm::Time::at_ns(request.at_ns),
          .message = request.message};
}

bench::Told tell(const calm::Reason& reason) {
  bench::Told told{.severity = reason.severity(),
                   .depth = reason.levels().depth,
                   .deadline_ns = reason.cleanup().deadline.time().ns(),
                   .polls = reason.cleanup().polls.count(),
                   .message_bytes = 0};
  for (const calm::ReasonLevel& level : reason.levels()) told.message_bytes += level.message.size();
  return told;
}

bench::Told cancel(const bench::Case& one) {
  std::array<calm::Reason, bench::levels + 1> kept;
  kept[0] = calm::Reason(spec(one.root));
  for (std::uint32_t level = 1; level <= bench::levels; ++level) {
    const calm::RegionId parent(level, calm::Generation());
    kept[level] = calm::Reason(calm::parent_cancelled(kept[level - 1], parent, kept[0].at()));
  }
  calm::Reason strongest = kept[bench::levels];
  for (const bench::Request& rival : one.rival) strongest = calm::strengthen(strongest, calm::Reason(spec(rival)));
  return tell(strongest);
}

}  // namespace

int main() { return bench::measure_cancellations(cancel); }
