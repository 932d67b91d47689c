#include "calm/cx/rref.hpp"

#include "calm/cx/port.hpp"
#include "calm/kernel/finding.hpp"

namespace calm::cx {

class Borrows::Locked {
 public:
  explicit Locked(Borrows& borrows) noexcept : borrows_(borrows) {
    // [R1] The last holder's clear releases what it wrote here.
    while (borrows_.busy_.test_and_set(std::memory_order_acquire)) {
    }
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { borrows_.busy_.clear(std::memory_order_release); }  // [R1]

 private:
  Borrows& borrows_;
};

void Borrows::begin(Port& port, kernel::Worker& worker, TaskId task, RegionId region, Use use,
                    std::source_location site) {
  bool meets = false;
  std::source_location other{};
  {
    const Locked lock(*this);
    meets = changers_ != 0 || (use == Use::changes && readers_ != 0);
    other = last_;
    ++(use == Use::changes ? changers_ : readers_);
    last_ = site;
  }
  if (!meets) return;
  port.report(worker, {.kind = kernel::FindingKind::borrow_conflict,
                       .region = region,
                       .task = task,
                       .site = site,
                       .other_site = other,
                       .must_fail = true});
}

void Borrows::end(Use use) noexcept {
  const Locked lock(*this);
  --(use == Use::changes ? changers_ : readers_);
}

BorrowMark::BorrowMark(const Context& context, Borrows& borrows, Borrows::Use use, bool within_a_poll,
                       std::source_location site)
    : port_(context.root()->port().has_ghosts() ? &context.root()->port() : nullptr),
      borrows_(&borrows),
      task_(context.root()->id()),
      awaits_(context.root()->awaits()),
      site_(site),
      use_(use),
      within_a_poll_(within_a_poll) {
  if (port_ != nullptr) borrows.begin(*port_, port_->here(), task_, context.region(), use, site);
}

BorrowMark::BorrowMark(BorrowMark&& other) noexcept
    : port_(std::exchange(other.port_, nullptr)),
      borrows_(other.borrows_),
      task_(other.task_),
      awaits_(other.awaits_),
      site_(other.site_),
      use_(other.use_),
      within_a_poll_(other.within_a_poll_) {}

BorrowMark::~BorrowMark() {
  if (port_ == nullptr) return;
  borrows_->end(use_);
  const TaskRoot* const root = within_a_poll_ ? port_->find(task_) : nullptr;
  if (root == nullptr || root->awaits() == awaits_) return;
  port_->report(port_->here(), {.kind = kernel::FindingKind::borrow_across_await,
                                .region = root->region(),
                                .task = task_,
                                .site = site_,
                                .other_site = root->last_await(),
                                .must_fail = true});
}

}  // namespace calm::cx
