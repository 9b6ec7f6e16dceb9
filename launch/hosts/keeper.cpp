// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/keeper.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/visible.h"
#include "launch/command_line/background.h"
#include "launch/command_line/exit_codes.h"
#include "launch/deployment/local_flock.h"
#include "launch/deployment/state_dir.h"
#include "launch/deployment/transport.h"
#include "launch/hardware/hardware_finding.h"
#include "launch/launchers/part_folders.h"
#include "launch/system/files.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kBeat{500}, kPause{100}, kStamps{1000};
/// A longer last line of a daemon's log is cut.
constexpr std::size_t kMostSaid = 400;
constexpr std::size_t kMostFindings = 16;  // of an executor that are told
/// A keeper that has not written for so long is gone, or as good as gone.
constexpr double kDead_s = 5;

double boot_seconds() { return seconds(machine_clock().now() - Instant{}); }

/// Has the holder of our standard input let go of it?
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

DaemonEnd kind_of(int status) {
  switch (status) {
    case kDone:
      return DaemonEnd::well;
    case kBadInput:
      return DaemonEnd::refused;
    case kDiskFailed:
      return DaemonEnd::disk;
    default:
      return DaemonEnd::broken;
  }
}

/// How it ended, and where it says so itself, why.
std::string reason_of(const Supervisor::Ended& end) {
  std::string how = how_ended(end);
  if (kind_of(end.status) == DaemonEnd::well || end.status < 0) return how;
  std::string why = last_lines(end.log, 1);
  why.erase(0, why.find_first_not_of(' '));
  if (why.starts_with("starling: ")) why.erase(0, 10);
  if (why.size() > kMostSaid) why = why.substr(0, kMostSaid) + "...";
  return why.empty() ? how : how + ": " + visible_line(why);
}

/// Differs for other contents of what a daemon reads when it starts.
std::string file_stamp(const Deployment& flock, const DeployedNode& node) {
  const auto own = flock.node_dir(node.name);
  std::string stamp;
  for (const std::filesystem::path& file :
       {flock.dir / "deployment.json", flock.dir / "flock.json", flock.dir / flock.topology,
        own / "config.json", own / "keys.json", own / "state" / "journal.db",
        own / "state" / "journal.db-wal", own / "state" / "incarnation"}) {
    struct stat s {};
    if (stat(file.c_str(), &s) != 0) s = {};
    stamp += std::to_string(s.st_ino) + "." + std::to_string(s.st_size) + "." +
             std::to_string(s.st_mtim.tv_sec) + "." + std::to_string(s.st_mtim.tv_nsec) + " ";
  }
  return stamp;
}

std::vector<const DeployedNode*> nodes_on(const Deployment& flock, const std::string& host) {
  std::vector<const DeployedNode*> nodes;
  for (const DeployedNode& node : flock.nodes) {
    if (node.host == host && node.role != Role::client) nodes.push_back(&node);
  }
  return nodes;
}

std::vector<std::string> names_of(const std::vector<const DeployedNode*>& nodes) {
  std::vector<std::string> names;
  names.reserve(nodes.size());
  for (const DeployedNode* node : nodes) names.push_back(node->name);
  return names;
}

/// "executor-0: GPU 3 of h1 is not used: XID 79".
std::vector<std::string> hardware_lines(const Deployment& flock,
                                        const std::vector<const DeployedNode*>& nodes) {
  std::vector<std::string> lines;
  for (const DeployedNode* node : nodes) {
    if (node->role != Role::executor) continue;
    const std::vector<HardwareFinding> findings = read_findings(flock.node_dir(node->name));
    for (std::size_t i = 0; i < std::min(findings.size(), kMostFindings); ++i)
      lines.push_back(node->name + ": " + findings[i].text);
    if (findings.size() > kMostFindings)
      lines.push_back(node->name + ": and " + std::to_string(findings.size() - kMostFindings) +
                      " more, in hardware.json");
  }
  return lines;
}

}  // namespace

std::vector<std::string> HostStatus::troubles() const {
  std::vector<std::string> lines;
  for (const KeptDaemon& d : daemons) {
    if (d.trouble.empty()) continue;
    // A process that may be refused once more is not up yet.
    const bool back = d.up && !d.trouble.ends_with("; being tried again");
    lines.push_back(d.name + (back ? " was down: " : " is down: ") + d.trouble);
  }
  lines.insert(lines.end(), hardware.begin(), hardware.end());
  return lines;
}

Keeper::Keeper(const Deployment& flock, std::string host, std::uint16_t protocol,
               SupervisionRules rules)
    : flock_(flock),
      host_(std::move(host)),
      flock_id_(flock_id(flock.dir)),
      protocol_(protocol),
      members_(flock, host_),
      nodes_(nodes_on(flock, host_)),
      core_(rules, names_of(nodes_)),
      stamps_(nodes_.size()) {}

void Keeper::start(std::size_t who, Instant now, SupervisionOutput& out) {
  if (const Status started = start_node(supervisor_, flock_, *nodes_[who], protocol_);
      !started.ok()) {
    stamps_[who].clear();
    core_.step(now, DaemonEnded{who, DaemonEnd::broken, started.error().message}, out);
  }
}

std::vector<std::string> Keeper::look() {
  const Instant now = machine_clock().now();
  SupervisionOutput out;
  // First which are members: one that is none any more has ended for that.
  const FlockMembers members = members_.now();
  for (std::size_t who = 0; who < nodes_.size(); ++who) {
    const bool wanted = belongs(*nodes_[who], members);
    if (wanted != core_.daemons()[who].wanted) core_.step(now, DaemonWanted{who, wanted}, out);
  }
  for (const Supervisor::Ended& end : supervisor_.poll()) {
    const auto found = std::find_if(nodes_.begin(), nodes_.end(), [&](const DeployedNode* node) {
      return node->name == end.name;
    });
    const auto who = static_cast<std::size_t>(found - nodes_.begin());
    stamps_[who] = file_stamp(flock_, *nodes_[who]);
    core_.step(now, DaemonEnded{who, kind_of(end.status), reason_of(end)}, out);
  }
  const bool stamps = now >= next_stamps_;
  if (stamps) next_stamps_ = later(now, kStamps);
  if (stamps) {
    std::vector<std::string> lines = hardware_lines(flock_, nodes_);
    for (const std::string& line : lines) {
      if (std::find(hardware_.begin(), hardware_.end(), line) == hardware_.end())
        out.say.push_back(line);
    }
    hardware_ = std::move(lines);
  }
  for (std::size_t who = 0; stamps && who < nodes_.size(); ++who) {
    if (core_.daemons()[who].up) continue;
    // An executor that does not come back cannot end what killed guardians left behind.
    if (nodes_[who]->role == Role::executor)
      (void)clear_unguarded(flock_.node_dir(nodes_[who]->name) / "parts");
    if (stamps_[who].empty()) continue;
    if (std::string stamp = file_stamp(flock_, *nodes_[who]); stamp != stamps_[who]) {
      stamps_[who] = std::move(stamp);
      core_.step(now, DaemonMended{who}, out);
    }
  }
  core_.step(now, SupervisionTick{}, out);
  // One that cannot be started adds to what is to be said, and is not due again yet.
  const std::vector<std::size_t> due = std::exchange(out.start, {});
  for (const std::size_t who : due) start(who, now, out);
  // A command that asks after a restart reads what is up again, not what was down.
  if (now >= next_status_ || !due.empty() || !out.say.empty()) {
    write_status(false);
    next_status_ = later(now, kBeat);
  }
  return std::move(out.say);
}

HostStatus Keeper::status() const {
  HostStatus s;
  s.host = host_;
  s.flock = flock_id_;
  s.pid = getpid();
  s.beat_s = boot_seconds();
  const Instant now = machine_clock().now();
  for (std::size_t who = 0; who < nodes_.size(); ++who) {
    const Supervised& d = core_.daemons()[who];
    KeptDaemon kept{d.name, d.up, d.starts == 0 ? 0 : d.starts - 1};
    if (!d.note.empty()) kept.note = d.name + " " + d.note;
    kept.away = core_.away(who);
    if (d.wanted && (kept.away || !d.up)) {
      kept.trouble = d.note.empty() ? "is not started yet" : d.note + "; " + outlook(d, now);
    }
    s.daemons.push_back(std::move(kept));
  }
  s.hardware = hardware_;
  return s;
}

void Keeper::write_status(bool stopped) {
  HostStatus now = status();
  now.stopped = stopped;
  const Status written = write_text(flock_.dir / "node.json", to_json_line(now) + "\n");
  if (!written.ok() && !status_failed_) log_error(written.error().message);
  status_failed_ = !written.ok();
}

void Keeper::stop() { stop(jobs_are_kept()); }

void Keeper::stop(bool keep_jobs) {
  SupervisionOutput out;
  core_.step(machine_clock().now(), SupervisionStop{}, out);
  supervisor_.stop_all(std::chrono::seconds(5), keep_jobs);
  if (!keep_jobs) end_jobs(flock_, host_);
  for (std::size_t who = 0; who < nodes_.size(); ++who) {
    if (core_.daemons()[who].up)
      core_.step(machine_clock().now(), DaemonEnded{who, DaemonEnd::well, ""}, out);
  }
  write_status(true);
}

std::filesystem::path stopping_mark(const std::filesystem::path& dir) {
  return dir / "keeper" / "stopping";
}

int keep_host(const std::filesystem::path& dir, const std::string& host, bool stream,
              std::uint16_t protocol) {
  catch_stop_signals();
  ignore_hangup();
  log_as("node " + host);
  auto place = StateDir::take(dir / "keeper");
  if (!place) return bad_input("node: " + place.error().message);
  std::error_code ignored;
  std::filesystem::remove(stopping_mark(dir), ignored);
  // Not before: while it was another's, the servers may have changed.
  auto flock = read_deployment(dir);
  if (!flock) return failed(flock.error());
  Keeper keeper(flock.value(), host, protocol);
  if (keeper.status().daemons.empty())
    return bad_input("node: no agent or executor of the flock in " + dir.string() +
                     " lives on a host '" + host + "'");
  const auto tell = [&](bool stopped) {
    if (!stream) return;
    HostStatus status = keeper.status();
    status.stopped = stopped;
    std::fputs((to_json_line(status) + "\n").c_str(), stdout);
    std::fflush(stdout);
  };
  auto next = std::chrono::steady_clock::now();
  while (!stop_requested() && !(stream && input_is_over())) {
    for (const std::string& line : keeper.look()) log_info(line);
    if (const auto now = std::chrono::steady_clock::now(); now >= next) {
      tell(false);
      next = now + kBeat;
    }
    std::this_thread::sleep_for(kPause);
  }
  keeper.stop();
  tell(true);
  log_info("stopped on request");
  return kDone;
}

namespace {

/// A keeper cannot even write its status then.
bool has_no_room(const std::filesystem::path& dir) {
  struct statvfs disk {};
  return ::statvfs(dir.c_str(), &disk) == 0 && (geteuid() == 0 ? disk.f_bfree : disk.f_bavail) == 0;
}

}  // namespace

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

std::vector<std::string> daemon_troubles(const std::filesystem::path& dir) {
  std::vector<std::string> lines;
  if (const auto found = find_keeper(dir); found && found.value().alive)
    lines = found.value().status.troubles();
  if (has_no_room(dir)) {
    lines.push_back(
        "the disk with " + dir.string() +
        " is full: no job is accepted before there is room, and what has to write there "
        "may stand still; jobs can be seen, explained and cancelled");
  }
  return lines;
}

}  // namespace starling
