// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agents/supervision.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/hosts/member_watch.h"
#include "launch/processes/supervisor.h"

namespace starling {

/// One daemon, as its keeper sees it.
struct KeptDaemon {
  std::string name;
  bool up = false;
  std::uint32_t restarts = 0;
  std::string note = {};     ///< how it ended last, if it did
  bool away = false;         ///< it keeps ending, or has ended for good: nothing should wait for it
  std::string trouble = {};  ///< of one that should be up and is not, or not for long: what is
                             ///< wrong, and what becomes of it
  friend bool operator==(const KeptDaemon&, const KeptDaemon&) = default;
};

/// How a host's part of a flock is: `node.json` of its directory, written anew every half second.
struct HostStatus {
  std::string host;
  std::string flock;  ///< its id (`flock-id`)
  std::int64_t pid = 0;
  double beat_s = 0;     ///< CLOCK_BOOTTIME of the host when it was written
  bool stopped = false;  ///< on request; else it is to run
  std::vector<KeptDaemon> daemons;
  std::vector<std::string> hardware = {};  ///< what its executors have found, a line each
  /// "executor-3 is down: ...", a line for each daemon that should be up and is not; and those of
  /// the hardware.
  [[nodiscard]] std::vector<std::string> troubles() const;
  friend bool operator==(const HostStatus&, const HostStatus&) = default;
};
[[nodiscard]] std::string to_json_line(const HostStatus& status);
[[nodiscard]] Result<HostStatus> host_status_from(const std::string& json);

/// Keeps the daemons of one host, or with an empty name those of a flock on this machine alone:
/// starts those that live there, and each again that ends (agents/supervision.h says when). Agents
/// that are no members are not started (launch/client/flock_hosts.h), and left alone when they end.
/// One thread.
class Keeper {
 public:
  /// `flock` outlives it. `protocol`: the newest that daemons speak.
  Keeper(const Deployment& flock, std::string host, std::uint16_t protocol = kNewestProtocol,
         SupervisionRules rules = {});
  /// How the first question for the members went.
  [[nodiscard]] const Status& members_known() const noexcept { return members_.first(); }
  /// Starts what is due, notices what has ended, writes the status when it is due. What people are
  /// to be told.
  [[nodiscard]] std::vector<std::string> look();
  [[nodiscard]] HostStatus status() const;
  [[nodiscard]] const Supervision& daemons() const noexcept { return core_; }
  /// Processes that run.
  [[nodiscard]] std::size_t running() const noexcept { return supervisor_.running(); }
  /// SIGTERM to all, SIGKILL after 5 s; returns when all are gone, and says so in the status.
  /// `keep_jobs`: jobs go on, and the next life of their executors finds them.
  void stop(bool keep_jobs);
  /// As the signal that stopped this process asked for (signals.h).
  void stop();

 private:
  void start(std::size_t who, Instant now, SupervisionOutput& out);
  void write_status(bool stopped);

  const Deployment& flock_;
  std::string host_, flock_id_;
  std::uint16_t protocol_;
  MemberWatch members_;
  std::vector<const DeployedNode*> nodes_;
  Supervision core_;
  std::vector<std::string> stamps_;  ///< of the files of what has ended (file_stamp)
  std::vector<std::string> hardware_;
  Instant next_status_, next_stamps_;
  bool status_failed_ = false;
  Supervisor supervisor_{SIGUSR1};  // what keeps it next takes the jobs up again
};

/// A file that is there once the keeper of `dir` was asked to stop, until the next one begins: a
/// keeper may take seconds to end its daemons, and seems to run meanwhile.
[[nodiscard]] std::filesystem::path stopping_mark(const std::filesystem::path& dir);

/// What `starling node run` does: keeps the daemons of `host` in the flock's directory `dir` until
/// a stop is requested or, with `stream`, its standard input ends; with `stream` each status goes
/// to stdout too. The exit status.
int keep_host(const std::filesystem::path& dir, const std::string& host, bool stream,
              std::uint16_t protocol = kNewestProtocol);

/// The status of a directory and whether its keeper lives.
struct FoundKeeper {
  HostStatus status;
  bool alive = false;
};
/// `not_found` where none was ever kept.
[[nodiscard]] Result<FoundKeeper> find_keeper(const std::filesystem::path& dir);
/// HostStatus::troubles() as the keeper of `dir` says, none where no keeper lives; and that the
/// disk of `dir` is full, where no keeper could write anything.
[[nodiscard]] std::vector<std::string> daemon_troubles(const std::filesystem::path& dir);

}  // namespace starling
