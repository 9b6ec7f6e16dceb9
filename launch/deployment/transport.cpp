// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/transport.h"

#include <thread>
#include <utility>

#include "base/hash.h"
#include "base/machine_clock.h"
#include "bus/allow_list.h"
#include "bus/flock.h"
#include "bus/keys.h"
#include "bus/spare_files.h"
#include "bus/wire/roles.h"
#include "bus/zmq_endpoint.h"
#include "launch/hooks/faulty_endpoint.h"
#include "launch/hooks/hooks.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/plain_file.h"

namespace starling {
namespace {

std::filesystem::path mark_file(const std::filesystem::path& key_file) {
  return key_file.string() + ".flock";
}

/// The endpoint, and the flock.json and keys that it goes by. A daemon leaves a mark of the
/// flock.json and logs what happens; clients say nothing, since what they print is others'
/// business.
class RenewedEndpoint final : public Endpoint {
 public:
  /// `mark` is of the flock.json that `endpoint` goes by, or of an earlier one.
  RenewedEndpoint(std::unique_ptr<ZmqEndpoint> endpoint, std::filesystem::path dir,
                  std::filesystem::path key_file, const std::string& mark, bool of_daemon,
                  bool takes_mark_away)
      : endpoint_(std::move(endpoint)),
        dir_(std::move(dir)),
        key_file_(std::move(key_file)),
        of_daemon_(of_daemon),
        takes_mark_away_(takes_mark_away) {
    took(mark);
  }
  ~RenewedEndpoint() override {
    if (takes_mark_away_) forget_taken_flock(key_file_);
  }
  bool send(NodeId to, std::span<const std::byte> frame) override {
    return endpoint_->send(to, frame);
  }
  void found_at(NodeId node, std::uint32_t seat) override { endpoint_->found_at(node, seat); }
  std::optional<Delivery> receive(Instant deadline) override {
    if (const Instant now = machine_clock().now(); now >= next_) {
      next_ = later(now, kPollEvery);
      look();
    }
    return endpoint_->receive(deadline);
  }

 private:
  static constexpr Duration kPollEvery = std::chrono::milliseconds(500);

  void took(const std::string& mark) {
    mark_ = mark;
    if (of_daemon_) (void)write_text(mark_file(key_file_), mark + "\n", 0600);
  }
  /// By its text, not its time: a copy keeps the whole seconds of the original, in which it may
  /// have changed twice. A file that is half written is read again the next time.
  void look() {
    look_at_files();
    const std::string mark = flock_mark(dir_);
    if (mark.empty() || mark == mark_) return;
    auto members = read_flock(dir_ / "flock.json");
    auto keys = read_key_file(key_file_);
    if (!members || !keys) return;
    const Status renewed = endpoint_->renew(std::move(members).value(), keys.value());
    if (!renewed.ok()) {
      if (of_daemon_ && trouble_ != renewed.error().message)
        log_error("flock.json is not taken on: " + renewed.error().message);
      trouble_ = renewed.error().message;
      return;
    }
    trouble_.clear();
    if (of_daemon_) log_info("flock.json has changed and was taken on");
    took(mark);
  }

  /// One line when it begins that peers cannot be connected to, one when it is over.
  void look_at_files() {
    if (!of_daemon_) return;
    const std::uint64_t count = endpoint_->counters().short_of_files;
    if (std::exchange(short_of_files_, count) != count && !short_) {
      const Status room = need_files(kFilesToConnect, "a connection to a peer");
      log_error(room.ok() ? "file descriptors ran out for a moment" : room.error().message);
      short_ = true;
    } else if (short_ && need_files(kFilesToConnect, "").ok()) {
      log_info("there are file descriptors for connections again");
      short_ = false;
    }
  }

  std::unique_ptr<ZmqEndpoint> endpoint_;
  std::filesystem::path dir_, key_file_;
  bool of_daemon_, takes_mark_away_, short_ = false;
  std::uint64_t short_of_files_ = 0;
  std::string mark_, trouble_;
  Instant next_{};
};

Result<std::unique_ptr<ZmqEndpoint>> open_now(const Deployment& deployment, NodeSeat me,
                                              const std::filesystem::path& key_file,
                                              const Limits& limits) {
  const char* const members_file =
      chaos_live::hook(deployment.for_chaos, chaos_live::kMembersVariable);
  auto members = read_flock(members_file != nullptr ? std::filesystem::path(members_file)
                                                    : deployment.dir / "flock.json");
  if (!members) return members.error();
  auto keys = read_key_file(key_file);
  if (!keys) return keys.error();
  ZmqOptions options;
  options.me = me.node;
  options.seat = me.seat;
  options.keys = keys.value();
  options.limits = limits;
  return ZmqEndpoint::open(options, std::move(members).value(), machine_clock());
}

}  // namespace

std::string flock_mark(const std::filesystem::path& dir) {
  const auto text = read_plain(dir / "flock.json");
  if (!text) return "";
  TraceHash hash;
  hash.add(text.value());
  return std::to_string(hash.value());
}

std::string taken_flock(const std::filesystem::path& key_file) {
  const auto text = read_plain(mark_file(key_file));
  return text ? text.value().substr(0, text.value().find('\n')) : "";
}

void forget_taken_flock(const std::filesystem::path& key_file) {
  std::error_code ignored;
  std::filesystem::remove(mark_file(key_file), ignored);
}

const Clock& machine_clock() {
  static const MachineClock clock;
  return clock;
}

Result<std::unique_ptr<Endpoint>> open_endpoint(const Deployment& deployment, NodeId me,
                                                const std::filesystem::path& key_file,
                                                const Limits& limits, std::uint32_t seat) {
  const bool called = role_of(me) != Role::client;
  // Also what is read below needs some.
  if (Status room = need_files(called ? kFilesToListen : kFilesToCall, "a place on the bus");
      !room.ok())
    return room.error();
  const std::string mark = flock_mark(deployment.dir);
  auto endpoint = open_now(deployment, {me, seat}, key_file, limits);
  // A key that is being exchanged may be there a moment before the flock.json that knows it.
  const bool daemon_waits = called && !endpoint && endpoint.error().code == Errc::invalid;
  for (int i = 0; i < 20 && daemon_waits; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (flock_mark(deployment.dir) != mark)
      return open_endpoint(deployment, me, key_file, limits, seat);
  }
  if (!endpoint) return endpoint.error();
  auto renewed = std::make_unique<RenewedEndpoint>(std::move(endpoint).value(), deployment.dir,
                                                   key_file, mark, called, called && seat != 0);
  const char* const faults = chaos_live::hook(deployment.for_chaos, chaos_live::kFramesVariable);
  if (faults == nullptr) return std::unique_ptr<Endpoint>(std::move(renewed));
  return std::unique_ptr<Endpoint>(std::make_unique<chaos_live::FaultyEndpoint>(
      std::move(renewed), faults, Rng(deployment.seed).fork(me.value).fork(seat), machine_clock()));
}

}  // namespace starling
