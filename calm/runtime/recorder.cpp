#include "calm/runtime/recorder.hpp"

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>
#include <utility>

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
