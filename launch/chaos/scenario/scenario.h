// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/rng.h"
#include "launch/chaos/machine/manners.h"

namespace starling::chaos_live {

/// A length of time in seconds, drawn evenly between two bounds each time it is needed.
struct Span {
  double least = 0, most = 0;
  [[nodiscard]] double draw(Rng& rng) const { return least + (most - least) * rng.uniform(); }
};

enum class LiveFaultKind : std::uint8_t {
  kill,          ///< SIGKILL; started again after `down`
  stop,          ///< SIGSTOP, and SIGCONT when it is over
  restart,       ///< SIGTERM; started again after `down`
  cut,           ///< links pass nothing
  swizzle,       ///< links of one node cut one after the other, healed in another order
  delay,         ///< links pass everything later
  throttle,      ///< links pass so many bytes a second
  close,         ///< connections are closed again and again
  corrupt,       ///< bits of the encrypted stream are flipped
  frames,        ///< frames are lost, repeated, overtaken
  disk_full,     ///< ENOSPC
  disk_error,    ///< EIO
  slow_disk,     ///< every sync takes longer
  fd_limit,      ///< RLIMIT_NOFILE
  garbage,       ///< strangers write random bytes to the sockets
  storm,         ///< many times the load
  link_down,     ///< a host's network interface is down; with hosts: namespaces
  packet_loss,   ///< the kernel drops packets of a host; with hosts: namespaces
  drain,         ///< a server is drained, and in use again when it is over
  bad_gpu,       ///< the health file names GPUs of a server
  version,       ///< started again with the previous protocol, then with the newest
  clock,         ///< the wall clock of a daemon jumps and runs at another rate
  fill_disk,     ///< nothing is left of an executor's disk; with disk_mib
  memory_limit,  ///< RLIMIT_AS
  lose           ///< an executor's machine dies with all its processes, for good
};

/// What a fault is to hit: "agent 1", "any agent", "2 agents", "all agents", "home of a job".
struct FaultTarget {
  enum class Kind : std::uint8_t { agent, executor, node, rack, etcd, home, busy_executor };
  Kind kind = Kind::agent;
  std::optional<std::uint32_t> number;  ///< that one; else drawn
  std::uint32_t count = 1;              ///< so many are drawn
  bool all = false;
};

enum class Direction : std::uint8_t { both, out, in };

/// One entry of `faults`: what, to what, when, how long.
struct FaultSpec {
  LiveFaultKind kind = LiveFaultKind::kill;
  std::vector<FaultTarget> who;  ///< one; or two, between which links are meant
  // When: at these times, or every so often, or at random with this mean distance.
  std::vector<double> at;
  double every = 0, mean = 0;
  double from = 0, until = 0;  ///< of every and mean; until 0: the whole length
  Span lasts, down;
  Direction direction = Direction::both;
  bool once = true;                    ///< of disk-error
  std::map<std::string, double> with;  ///< delay_ms, loss, ...

  [[nodiscard]] double value(const char* name, double fallback) const {
    const auto it = with.find(name);
    return it == with.end() ? fallback : it->second;
  }
};

struct FlockShape {
  std::uint32_t agents = 4, executors = 8, gpus = 4, standbys = 3;
  std::string state = "sqlite";      ///< or etcd
  std::string hosts = "loopback";    ///< or namespaces
  std::string launcher = "process";  ///< or emulated: then jobs cannot be audited on their GPUs
  std::string policy = "consolidate";
  double orphan = 0;  ///< seconds, as Timers::orphan, the others in proportion; 0: as it is
  std::uint32_t disk_mib = 0;  ///< the size of an executor's file system; 0: that of this machine
};

struct LoadSpec {
  double jobs_per_s = 4;
  std::uint32_t outstanding = 0;  ///< at most so many jobs that have not ended; 0: no bound
  Span seconds{0.2, 3};           ///< how long a job runs
  std::vector<std::uint32_t> gpus{1, 1, 2, 4};         ///< of a worker, drawn evenly
  double gangs = 0.2;                                  ///< share of jobs with several workers
  double cancel = 0.02, resubmit = 0.05, query = 0.1;  ///< shares of jobs
  std::vector<Manner> manners{Manner::plain};          ///< of a job, drawn evenly
  double submits_per_s = 0;  ///< by commands of their own, beside jobs_per_s
  double submit_kills = 0;   ///< share of these commands that are killed before they end
};

/// What makes the run fail beside what always does; 0: nothing is expected.
struct Expectations {
  double takeover_median = 0, takeover_most = 0;  ///< seconds
  double answered_within = 0;  ///< of every submit that no fault of its home excuses, seconds
  double rss_mib = 0;          ///< of every agent at any time
  double throughput = 0;  ///< jobs started a second after the first takeover, as a share of before
  std::uint32_t faults = 0, kills = 0, takeovers = 0;  ///< at least
  double recovered_within = 300;  ///< after healing: seconds without news until all jobs have ended
};

struct ChaosScenario {
  std::string name, description;
  FlockShape flock;
  LoadSpec load;
  double length = 60;  ///< seconds of faults
  std::uint64_t seed = 1;
  std::vector<FaultSpec> faults;
  Expectations expect;
  std::vector<std::string> notes;  ///< what its file writes as earlier versions did, a line each
};

}  // namespace starling::chaos_live
