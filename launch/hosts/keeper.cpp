#include "launch/hosts/keeper.h"

#include <poll.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "launch/exit_codes.h"
#include "launch/files.h"
#include "launch/local_flock.h"
#include "launch/log.h"
#include "launch/signals.h"
#include "launch/state_dir.h"

namespace starling {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFirstPause{200}, kLongestPause{30'000};
/// Who has been up for so long is as good as new.
constexpr std::chrono::seconds kSettled{20};
constexpr std::uint32_t kRefusals = 5;
constexpr milliseconds kBeat{500}, kTurn{100};
/// A keeper that has not written for so long is gone, or as good as gone.
constexpr double kDead_s = 5;

double boot_seconds() {
  timespec t{};
  clock_gettime(CLOCK_BOOTTIME, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) / 1e9;
}

/// Has whoever holds our standard input let go of it?
bool input_is_over() {
  pollfd in{STDIN_FILENO, POLLIN, 0};
  if (poll(&in, 1, 0) <= 0) return false;
  char byte = 0;
  return (in.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0 ||
         ((in.revents & POLLIN) != 0 && read(STDIN_FILENO, &byte, 1) == 0);
}

std::string flock_id(const std::filesystem::path& dir) {
  const auto text = read_text(dir / "flock-id");
  return text ? text.value().substr(0, text.value().find('\n')) : "";
}

}  // namespace

Keeper::Keeper(const Deployment& flock, std::string host, std::uint16_t protocol)
    : flock_(flock), host_(std::move(host)), protocol_(protocol), members_(flock) {
  for (const DeployedNode& node : flock_.nodes) {
    if (node.host != host_ || node.role == Role::client) continue;
    Kept kept;
    kept.node = &node;
    kept.state.name = node.name;
    kept_.push_back(std::move(kept));
  }
}

Keeper::Kept* Keeper::find(const std::string& name) {
  const auto it =
      std::find_if(kept_.begin(), kept_.end(), [&](const Kept& k) { return k.state.name == name; });
  return it == kept_.end() ? nullptr : &*it;
}

void Keeper::ended(Kept& kept, const Supervisor::Ended& end, Time now) {
  kept.state.up = false;
  if (!kept.member && end.status == kDone) {
    kept.state.note = kept.state.name + " is no member any more and has ended";
    log_info(kept.state.note);
    return;
  }
  const std::string how = describe(end, 1);
  kept.state.note = how.substr(0, how.find("; it"));  // its last lines are in the log
  log_error(describe(end));
  const bool settled = now - kept.started > kSettled;
  // Also a state directory that an ending process still has is bad input, for a moment.
  kept.refusals = end.status == kBadInput && !settled ? kept.refusals + 1 : 0;
  kept.hopeless = kept.refusals == kRefusals;
  if (kept.hopeless) {
    log_error("not starting " + kept.state.name + " again: its configuration is wrong");
    return;
  }
  kept.pause =
      settled || kept.pause.count() == 0 ? kFirstPause : std::min(2 * kept.pause, kLongestPause);
  kept.due = now + kept.pause;
}

void Keeper::look() {
  const Time now = std::chrono::steady_clock::now();
  const FlockMembers members = members_.now();
  for (Kept& kept : kept_) {
    const bool was = std::exchange(kept.member, belongs(*kept.node, members));
    if (kept.member && !was) kept.due = now;
  }
  for (const Supervisor::Ended& end : supervisor_.poll()) {
    if (Kept* kept = find(end.name)) ended(*kept, end, now);
  }
  for (Kept& kept : kept_) {
    if (kept.state.up || kept.hopeless || !kept.member || now < kept.due) continue;
    const bool again = kept.started != Time{};
    kept.started = now;
    if (const Status started = start_node(supervisor_, flock_, *kept.node, protocol_);
        !started.ok()) {
      kept.state.note = started.error().message;
      kept.due = now + kLongestPause;
      log_error(started.error().message);
      continue;
    }
    kept.state.up = true;
    kept.state.restarts += again ? 1 : 0;
    log_info("started " + kept.state.name + (again ? " again" : ""));
  }
}

HostStatus Keeper::status() const {
  HostStatus s;
  s.host = host_;
  s.flock = flock_id(flock_.dir);
  s.pid = getpid();
  s.beat_s = boot_seconds();
  for (const Kept& kept : kept_) s.daemons.push_back(kept.state);
  return s;
}

void Keeper::stop() {
  supervisor_.stop_all();
  for (Kept& kept : kept_) kept.state.up = false;
}

int keep_host(const std::filesystem::path& dir, const std::string& host, bool stream,
              std::uint16_t protocol) {
  catch_stop_signals();
  log_as("node " + host);
  auto flock = read_deployment(dir);
  if (!flock) return failed(flock.error());
  auto place = StateDir::take(dir / "keeper");
  if (!place) return bad_input("node: " + place.error().message);
  Keeper keeper(flock.value(), host, protocol);
  if (keeper.status().daemons.empty())
    return bad_input("node: no agent or executor of the flock in " + dir.string() +
                     " lives on a host '" + host + "'");
  const auto tell = [&](bool stopped) {
    HostStatus status = keeper.status();
    status.stopped = stopped;
    const std::string line = to_json_line(status) + "\n";
    if (const Status written = write_text(dir / "node.json", line); !written.ok())
      log_error(written.error().message);
    if (!stream) return;
    std::fputs(line.c_str(), stdout);
    std::fflush(stdout);
  };
  auto next = std::chrono::steady_clock::now();
  while (!stop_requested() && !(stream && input_is_over())) {
    keeper.look();
    if (const auto now = std::chrono::steady_clock::now(); now >= next) {
      tell(false);
      next = now + kBeat;
    }
    std::this_thread::sleep_for(kTurn);
  }
  keeper.stop();
  tell(true);
  log_info("stopped on request");
  return kDone;
}

Result<FoundKeeper> find_keeper(const std::filesystem::path& dir) {
  const auto text = read_text(dir / "node.json");
  if (!text) return text.error();
  auto status = host_status_from(text.value());
  if (!status) return {Errc::invalid, (dir / "node.json").string() + ": " + status.error().message};
  FoundKeeper found{std::move(status).value(), false};
  const double age = boot_seconds() - found.status.beat_s;
  const bool there = kill(static_cast<pid_t>(found.status.pid), 0) == 0;
  found.alive = !found.status.stopped && there && age >= 0 && age < kDead_s;
  return found;
}

}  // namespace starling
