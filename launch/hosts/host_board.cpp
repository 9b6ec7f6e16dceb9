// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/host_board.h"

#include <algorithm>

#include "launch/deployment/flock_folder.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/host_servers.h"

namespace starling {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFirstRest{1000}, kLongestRest{5000}, kFresh{3000};
/// For a keeper to stop its daemons.
constexpr milliseconds kStopping{10'000};

}  // namespace

HostBoard::HostBoard(const HostFlock& flock, const Remote& remote)
    : flock_(flock), remote_(remote), seen_(flock.hosts.size()) {
  for (std::size_t i = 0; i < seen_.size(); ++i) threads_.emplace_back([this, i] { watch(i); });
}

HostBoard::~HostBoard() {
  over_ = true;
  for (std::thread& thread : threads_) thread.join();
}

void HostBoard::heard(std::size_t host, const std::string& line) {
  auto status = host_status_from(line);
  if (!status) return;
  const std::lock_guard lock(mutex_);
  Seen& seen = seen_[host];
  seen.heard = steady_clock::now();
  seen.linked = !status.value().stopped;
  if (seen.linked) seen.stopped = false;
  seen.trouble.clear();
  seen.status = std::move(status).value();
}

void HostBoard::rest(milliseconds time) const {
  const auto until = steady_clock::now() + time;
  while (!over_ && steady_clock::now() < until) std::this_thread::sleep_for(milliseconds(50));
}

/// Not while a command stops keepers on purpose, for a restart or for other servers.
Status HostBoard::start_again(const Host& host) const {
  const auto place = StateDir::take(flock_.dir / kRestartLock);
  if (!place) return place.error();
  const auto started = start_keeper(flock_, remote_, host);
  return started ? done() : Status(started.error());
}

void HostBoard::watch(std::size_t i) {
  const Host& host = flock_.hosts[i];
  const bool step = flock_.way == Way::slurm;
  const std::string command =
      step ? flock_.keeper_command(host, "run --stream") : HostFlock::node_command(host, "watch");
  milliseconds pause = kFirstRest;
  while (!over_) {
    const auto began = steady_clock::now();
    const Finished ended = follow_program(
        remote_.argv(host, command, false), [&](const std::string& line) { heard(i, line); },
        [this] { return !over_; }, step ? kStopping : milliseconds(1000));
    if (over_) return;
    bool start = false, stopped = false;
    {
      const std::lock_guard lock(mutex_);
      Seen& seen = seen_[i];
      if (seen.linked) ++seen.losses;
      seen.linked = false;
      seen.trouble = complaint(host, flock_.way, ended);
      seen.stopped = seen.stopped || (seen.status && seen.status->stopped && ended.status == 0);
      if (seen.stopped && step) return;
      start = !step && !seen.stopped && ended.status == kKeeperGone;
      stopped = seen.stopped;
      if (start) ++seen.keepers;
    }
    if (stopped) {  // another command may start it again
      rest(kFirstRest);
      continue;
    }
    if (start) {
      const Status started = start_again(host);
      if (started.ok()) continue;
      const std::lock_guard lock(mutex_);
      seen_[i].trouble = started.error().message;
    }
    pause = steady_clock::now() - began > std::chrono::seconds(30)
                ? kFirstRest
                : std::min(2 * pause, kLongestRest);
    rest(pause);
  }
}

std::vector<HostBoard::Seen> HostBoard::look() const {
  const std::lock_guard lock(mutex_);
  std::vector<Seen> seen = seen_;
  const auto now = steady_clock::now();
  for (Seen& s : seen) {
    if (!s.linked || now - s.heard < kFresh) continue;
    s.linked = false;
    s.trouble = "nothing is heard from it";
  }
  return seen;
}

}  // namespace starling
