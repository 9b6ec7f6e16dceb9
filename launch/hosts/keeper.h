#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/deployment.h"
#include "launch/flock_hosts.h"
#include "launch/supervisor.h"

namespace starling {

/// One daemon, as its keeper sees it.
struct KeptDaemon {
  std::string name;
  bool up = false;
  std::uint32_t restarts = 0;
  std::string note;  ///< how it ended last, if it did
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
  friend bool operator==(const HostStatus&, const HostStatus&) = default;
};
[[nodiscard]] std::string to_json_line(const HostStatus& status);
[[nodiscard]] Result<HostStatus> host_status_from(const std::string& json);

/// Keeps the daemons of one host: starts those that live there, and each again that ends, after a
/// pause that doubles from 0.2 to 30 s while it does not stay up. One that ends for a wrong
/// configuration five times in a row is left alone. Agents that are no members are not started
/// (launch/flock_hosts.h), and left alone when they end. One thread.
class Keeper {
 public:
  /// `flock` outlives it. `protocol`: the newest that daemons speak.
  Keeper(const Deployment& flock, std::string host, std::uint16_t protocol = kNewestProtocol);
  /// Starts what is due, notices what has ended.
  void look();
  [[nodiscard]] HostStatus status() const;
  /// SIGTERM to all, SIGKILL after 5 s; returns when all are gone.
  void stop();

 private:
  using Time = std::chrono::steady_clock::time_point;
  struct Kept {
    const DeployedNode* node = nullptr;
    KeptDaemon state;
    Time started{}, due{};
    std::chrono::milliseconds pause{0};
    std::uint32_t refusals = 0;  // one after the other
    bool hopeless = false, member = true;
  };
  Kept* find(const std::string& name);
  void ended(Kept& kept, const Supervisor::Ended& end, Time now);

  const Deployment& flock_;
  std::string host_;
  std::uint16_t protocol_;
  MemberWatch members_;
  std::vector<Kept> kept_;
  Supervisor supervisor_;
};

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
/// `not_found` where nobody ever kept one.
[[nodiscard]] Result<FoundKeeper> find_keeper(const std::filesystem::path& dir);

}  // namespace starling
