// Bugs of async tasks that pass data on: what is in hand when a cancel or a timer comes.
#include <deque>
#include <optional>

#include "apps/calm/gallery/bugs.hpp"
#include "apps/calm/gallery/place.hpp"

namespace calm::gallery {
namespace {

using explore::Threads;

/// A channel for one item, full at first, and the items that wait to be sent.
class Channel {
 public:
  explicit Channel(Threads& threads) : place_(threads) {}

  /// The item is in the future while it waits; a cancel drops both.
  void take_then_send() {
    place_.step("take");
    --to_send_;
    place_.step_when("send", [this] { return has_room() || cancelled_; });
    if (!cancelled_) ++queued_;
  }
  /// Only the permit is waited for; a cancel drops nothing else.
  void reserve_then_send() {
    place_.step_when("reserve", [this] { return has_room() || cancelled_; });
    if (cancelled_) return;
    ++reserved_;
    place_.step("send");
    --to_send_;
    --reserved_;
    ++queued_;
  }
  void receive() {
    place_.step_when("receive", [this] { return queued_ != 0; });
    --queued_;
    ++received_;
  }
  void cancel() {
    place_.step("cancel");
    cancelled_ = true;
  }
  [[nodiscard]] int items() const { return to_send_ + queued_ + received_; }

 private:
  [[nodiscard]] bool has_room() const { return queued_ + reserved_ == 0; }

  Place place_;
  int to_send_ = 1;
  int reserved_ = 0;
  int queued_ = 1;
  int received_ = 0;
  bool cancelled_ = false;
};

/// Bytes on their way, and a timer that interrupts one read.
class Stream {
 public:
  explicit Stream(Threads& threads) : place_(threads) {}

  void write(int byte) {
    place_.step("write");
    bytes_.push_back(byte);
  }
  /// Gives: the next byte; none when the timer was first.
  std::optional<int> read() {
    place_.step_when("read", [this] { return !bytes_.empty() || fired_; });
    if (fired_) {
      fired_ = false;
      return std::nullopt;
    }
    const int byte = bytes_.front();
    bytes_.pop_front();
    return byte;
  }
  void fire() {
    place_.step("fire");
    fired_ = true;
  }

 private:
  Place place_;
  std::deque<int> bytes_;
  bool fired_ = false;
};

/// A frame is an even byte and the odd one after it.
struct FrameReader {
  std::optional<int> half;

  /// Gives: false when the timer was first.
  bool read_frame(Threads& threads, Stream& stream) {
    while (true) {
      const std::optional<int> byte = stream.read();
      if (!byte) return false;
      threads.check(*byte % 2 == (half ? 1 : 0), "a frame begins in the middle of another");
      if (half) {
        half.reset();
        return true;
      }
      half = byte;
    }
  }
};

/// What an event sets and those who wait for it clear.
class Readiness {
 public:
  explicit Readiness(Threads& threads) : place_(threads) {}

  void set(unsigned bits) {
    place_.step("set");
    bits_ |= bits;
  }
  void clear(unsigned bits) {
    place_.step("clear");
    bits_ &= ~bits;
  }
  void wait(unsigned bits) {
    place_.step_when("wait", [this, bits] { return (bits_ & bits) != 0; });
  }
  void wait_at_most(unsigned bits) {
    place_.step_when("wait", [this, bits] { return (bits_ & bits) != 0 || fired_; });
  }
  void fire() {
    place_.step("fire");
    fired_ = true;
  }

 private:
  Place place_;
  unsigned bits_ = 0;
  bool fired_ = false;
};

}  // namespace

Threads::Setup lost_send(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Channel& channel = threads.make<Channel>(threads);
    threads.run(
        [&channel, fixed] {
          if (fixed) {
            channel.reserve_then_send();
          } else {
            channel.take_then_send();
          }
        },
        "sender");
    threads.run([&channel] { channel.receive(); }, "receiver");
    threads.run([&channel] { channel.cancel(); }, "canceller");
    threads.at_end([&threads, &channel] {
      threads.check(channel.items() == 2, "an item is neither sent nor left with its sender");
    });
  };
}

Threads::Setup half_frame(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Stream& stream = threads.make<Stream>(threads);
    threads.run(
        [&stream] {
          for (int byte = 0; byte < 4; ++byte) stream.write(byte);
        },
        "peer");
    threads.run(
        [&threads, &stream, fixed] {
          FrameReader connection;
          for (int frames = 0; frames < 2;) {
            FrameReader future;  // of this one read, gone with it when the timer wins the race
            FrameReader& reader = fixed ? connection : future;
            if (reader.read_frame(threads, stream)) ++frames;
          }
        },
        "reader");
    threads.run([&stream] { stream.fire(); }, "timer");
  };
}

Threads::Setup shared_bit(bool fixed, std::uint32_t /*n*/) {
  return [fixed](Threads& threads) {
    Readiness& socket = threads.make<Readiness>(threads);
    static constexpr unsigned readable = 1;
    const unsigned writable = fixed ? 2 : readable;
    threads.run(
        [&socket] {
          socket.wait(readable);
          socket.clear(readable);
        },
        "reader");
    threads.run(
        [&socket, writable] {
          socket.wait_at_most(writable);
          socket.clear(writable);
        },
        "timed writer");
    threads.run([&socket, writable] { socket.set(readable | writable); }, "driver");
    threads.run([&socket] { socket.fire(); }, "timer");
  };
}

}  // namespace calm::gallery
