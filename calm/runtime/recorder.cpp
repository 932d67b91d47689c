#include "calm/runtime/recorder.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

#include "calm/check/probe.hpp"
#include "calm/model/text.hpp"

namespace calm::runtime {

class Recorder::FileSink final : public RecordSink {
 public:
  explicit FileSink(std::FILE* file) noexcept : file_(file) {}
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() { (void)std::fclose(file_); }

  bool write(std::string_view piece) noexcept override {
    return std::fwrite(piece.data(), 1, piece.size(), file_) == piece.size() && std::fflush(file_) == 0;
  }

 private:
  std::FILE* file_;
};

Outcome<std::unique_ptr<Recorder>> Recorder::make(const RunOptions& options, std::uint16_t workers, bool several) {
  const RecordOptions& record = options.record;
  if (record.program.find_first_of(" \n") != std::string_view::npos) {
    return err(Errc::invalid_argument, "the name of a recorded program is one word; next: RunOptions::record.program");
  }
  std::unique_ptr<FileSink> file;
  if (record.sink == nullptr) {
    const std::string path(record.file);
    std::FILE* const opened = std::fopen(path.c_str(), "wbe");
    if (opened == nullptr) {
      return err(Errc::io, "the recording " + quoted(path) + " cannot be written: " +
                               std::generic_category().message(errno) + "; next: RunOptions::record.file");
    }
    file = std::make_unique<FileSink>(opened);
  }
  RecordSink& sink = record.sink != nullptr ? *record.sink : *file;
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(file), sink, record.at_once));
  sched::RecordedRun header{.program = std::string(record.program),
                            .workers = workers,
                            .several = several,
                            .seed = options.seed,
                            .kernel = options.kernel};
  recorder->write([&] { recorder->text_.begin(header); });
  return ok(std::move(recorder));
}

Recorder::Recorder(std::unique_ptr<FileSink> file, RecordSink& sink, bool at_once) noexcept
    : file_(std::move(file)), sink_(sink), at_once_(at_once) {}

Recorder::~Recorder() = default;

/// A worker that has just had a turn is quicker than one that sleeps until the lock is free, and would have the next one too.
/// After so many in a row it waits until another that wants one has had it: nobody waits for ever.
void Recorder::begin_turn() {
  waiting_.fetch_add(1, std::memory_order_seq_cst);
  mutex_.lock();
  waiting_.fetch_sub(1, std::memory_order_seq_cst);
  const std::thread::id me = std::this_thread::get_id();
  if (std::exchange(last_, me) == me) {
    ++in_a_row_;
    return;
  }
  in_a_row_ = 1;
  passed_.fetch_add(1, std::memory_order_seq_cst);
  passed_.notify_all();
}

void Recorder::end_turn() {
  const bool enough = in_a_row_ >= turns_in_a_row;
  if (enough) in_a_row_ = 0;
  const std::uint32_t passed = passed_.load(std::memory_order_seq_cst);
  mutex_.unlock();
  // Who waits has said so before it came to the lock, and will have it.
  if (!enough || waiting_.load(std::memory_order_seq_cst) == 0) return;
  CALM_PROBE("recorder: a turn is passed on");
  passed_.wait(passed, std::memory_order_seq_cst);
}

void Recorder::pass_on() {
  if (text_.size() == 0) return;
  if (!sink_.write(text_.text())) {
    give_up("it cannot be written");
    return;
  }
  text_.taken();
}

void Recorder::give_up(std::string_view why) noexcept {
  broken_ = true;
  std::fprintf(stderr, "calm: the recording of the run ends here: %.*s [SCH-9]; the run goes on\n",
               static_cast<int>(why.size()), why.data());
}

void Recorder::finish(OutcomeKind end) noexcept {
  write([&] {
    text_.end(end);
    pass_on();
  });
}

}  // namespace calm::runtime
