#include "calm/kernel/finding.hpp"

#include "calm/kernel/view_text.hpp"

namespace calm::kernel {
namespace {

std::string by_task(const Finding& finding) { return finding.task ? " by " + to_string(finding.task) : std::string(); }

// Gives: `o7 (ack) of r2 was`, or for promises without a record `2 lock guards of r2 were`.
std::string promise(const Finding& finding) {
  const std::string_view kind = to_string(finding.obligation_kind);
  std::string text = finding.obligation ? to_string(finding.obligation).append(" (").append(kind).append(")")
                                        : counted_noun(finding.count, kind);
  if (finding.region) text.append(" of ").append(to_string(finding.region));
  return text.append(!finding.obligation && finding.count != 1 ? " were" : " was");
}

std::string task_in_region(const Finding& finding) {
  std::string text = to_string(finding.task);
  if (finding.region) text.append(" in ").append(to_string(finding.region));
  return text;
}

std::string sentence(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::leak: {
      const std::string who = finding.task ? by_task(finding) : ", with nobody left to keep it";
      return promise(finding).append(" leaked").append(who).append(at_place(", made at ", finding.site));
    }
    case FindingKind::dropped_token:
      return promise(finding)
          .append(" dropped while Reserved")
          .append(by_task(finding))
          .append(at_place(", made at ", finding.site));
    case FindingKind::mask_too_deep:
      return task_in_region(finding)
          .append(" nested more than 64 masks, all are off")
          .append(at_place(" at ", finding.site));
    case FindingKind::mask_too_long:
      return task_in_region(finding)
          .append(" was polled more than 1000 times under one mask, it is off")
          .append(at_place(" at ", finding.site));
    case FindingKind::forced:
      return task_in_region(finding)
          .append(" used up its clean-up budget, its frame is dropped")
          .append(at_place(" at ", finding.site));
    case FindingKind::stalled:
      if (finding.in_call) {
        return task_in_region(finding)
            .append(" used up its clean-up budget in a call that is not over")
            .append(at_place(" at ", finding.site))
            .append(", it is forced when that is");
      }
      return task_in_region(finding)
          .append(" used up its clean-up budget and does not suspend")
          .append(at_place(", last seen at ", finding.site));
    case FindingKind::unresolved:
      return to_string(finding.region)
          .append(" closes over ")
          .append(counted_noun(finding.count, "promise"))
          .append(" that nobody kept (unresolved_obligations)");
    case FindingKind::wrong_thread:
      return task_in_region(finding)
          .append(" touched what stays on another thread")
          .append(at_place(" at ", finding.site))
          .append(at_place(", it was made at ", finding.other_site));
    case FindingKind::borrow_conflict:
      return task_in_region(finding)
          .append(" borrowed an object")
          .append(at_place(" at ", finding.site))
          .append(" that was already borrowed")
          .append(at_place(" at ", finding.other_site))
          .append(", and one of them changes it");
    case FindingKind::borrow_across_await:
      return task_in_region(finding)
          .append(" held what it borrowed")
          .append(at_place(" at ", finding.site))
          .append(" across an await")
          .append(at_place(" at ", finding.other_site));
  }
  CALM_INVARIANT(OBL_6, false, static_cast<std::uint8_t>(finding.kind));
  return {};
}

std::string_view law_of(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::leak:
      return finding.task ? "OBL-5" : "OBL-6";
    case FindingKind::dropped_token:
      return "OBL-4";
    case FindingKind::mask_too_deep:
    case FindingKind::mask_too_long:
      return "CAN-12";
    case FindingKind::forced:
    case FindingKind::stalled:
      return "CAN-8";
    case FindingKind::unresolved:
      return "OBL-6";
    case FindingKind::wrong_thread:
      return "GHO-1";
    case FindingKind::borrow_conflict:
    case FindingKind::borrow_across_await:
      return "GHO-2";
  }
  CALM_INVARIANT(OBL_6, false, static_cast<std::uint8_t>(finding.kind));
  return {};
}

}  // namespace

std::string to_string(const Finding& finding) {
  std::string line = "calm: " + sentence(finding);
  line.append(" [").append(law_of(finding)).append("]");
  if (finding.must_fail) line.append(" fails the run");
  return line;
}

}  // namespace calm::kernel
