// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/result.h"
#include "launch/chaos/machine/link_proxies.h"
#include "launch/chaos/machine/namespaces.h"
#include "launch/chaos/machine/reaper.h"
#include "launch/chaos/machine/small_disks.h"
#include "launch/chaos/scenario/scenario.h"
#include "launch/deployment/deployment.h"
#include "launch/hooks/faulty_endpoint.h"
#include "launch/processes/supervisor.h"
#include "topology/topology.h"

namespace starling::chaos_live {

/// What befalls the writes of a daemon's state.
struct LiveDiskFaults {
  int full = 0, error = 0;  ///< above 0: so
  long errors = 0;          ///< so many since the start of the run
  long sync_ms = 0;
};

/// A flock of real processes that is there to be broken: agents, executors and, where its state is
/// in etcd, three members, each reachable from the others only through links that can be cut. One
/// thread.
class LiveFlock {
 public:
  static constexpr std::uint32_t kEtcdMembers = 3;
  enum class Role : std::uint8_t { agent, executor, etcd };
  struct Process {
    Role role = Role::agent;
    std::uint32_t number = 0, rack = 0;
    std::string name;
    pid_t pid = 0;            ///< 0: it is down
    int frozen = 0;           ///< so many faults hold it stopped
    double start_at = -1;     ///< when to start it again; below 0: it is not to be
    double told_to_end = -1;  ///< SIGTERM was sent then
    bool killed = false;      ///< SIGKILL was
    double disk_until = -1;   ///< its disk fails or failed up to now: it may end with that
    double started = 0;
    LiveDiskFaults disk;
    long errors_at_start = 0;  ///< of its disk; a later one waits for its next write
    double memory_until = -1;  ///< it may lack memory up to now, and end of that
    std::uint16_t protocol = kNewestProtocol;
    bool lost = false;                ///< its machine is gone for good
    std::vector<std::uint32_t> sick;  ///< bad GPUs, once for each fault that says so
    double clock_jump_s = 0, clock_rate = 1;
    std::string host;  ///< of its socket
    std::uint16_t port = 0;
  };
  /// What a process did that it was not asked to do.
  struct Surprise {
    std::string process, message;
  };

  /// Makes the directory's `flock`, `etcd` and `work`, and starts everything. `reaper` outlives it.
  [[nodiscard]] static Result<std::unique_ptr<LiveFlock>> start(const ChaosScenario& scenario,
                                                                const std::filesystem::path& dir,
                                                                const Reaper& reaper);
  ~LiveFlock();
  LiveFlock(const LiveFlock&) = delete;
  LiveFlock& operator=(const LiveFlock&) = delete;

  [[nodiscard]] const Deployment& deployment() const noexcept { return deployment_; }
  [[nodiscard]] const Topology& topology() const noexcept { return *topology_; }
  [[nodiscard]] std::vector<Process>& processes() noexcept { return processes_; }
  [[nodiscard]] const LinkCounters& links() const noexcept { return proxies_.counters(); }
  [[nodiscard]] bool has_disk_shim() const noexcept { return !disk_shim_.empty(); }
  [[nodiscard]] bool has_clock_shim() const noexcept { return !clock_shim_.empty(); }
  /// GPUs of machines that are gone for good, of one partition.
  [[nodiscard]] std::uint32_t lost_gpus(std::uint32_t partition) const;
  [[nodiscard]] const Namespaces* namespaces() const noexcept { return namespaces_.get(); }
  [[nodiscard]] std::filesystem::path log_of(const Process& process) const;

  // Faults. What holds a process stopped or a link cut is counted, so they may overlap.
  void kill(Process& process, double start_again);
  void terminate(Process& process, double now, double start_again);
  void freeze(Process& process);
  void wake(Process& process);
  void set_disk(const Process& process) const;
  void set_frames(const Process& process, const FrameFaults& faults) const;
  /// The links by which `from` reaches `to`, whose faults may be changed; then apply_links().
  [[nodiscard]] std::vector<std::size_t> links_of(const Process& from, const Process& to) const;
  [[nodiscard]] LinkFaults& link(std::size_t i) { return wanted_[i]; }
  void apply_links();
  /// So many files more may `process` open; below 0: as at first.
  void limit_files(const Process& process, int spare) const;

  /// So much memory more may `process` have; below 0: as at first.
  void limit_memory(const Process& process, double spare_mib) const;
  /// Writes what its wall clock and its GPUs' health are to be.
  void set_clock(const Process& process) const;
  void set_health(const Process& process) const;
  /// Takes what is left of an executor's own file system, or gives it back.
  void fill_disk(const Process& process, bool full) const;
  /// Kills everything of an executor's machine; it is not started again.
  void lose(Process& process);

  /// Starts what is due and collects what has ended.
  [[nodiscard]] std::vector<Surprise> look(double now);
  /// Everything is up again, or will be at the next look().
  void heal(double now);
  /// SIGTERM to the daemons; what they did that they should not have.
  [[nodiscard]] std::vector<Surprise> stop(double patience);

 private:
  explicit LiveFlock(const Reaper& reaper, std::uint64_t seed) : reaper_(reaper), proxies_(seed) {}
  Status make(const ChaosScenario& scenario, const std::filesystem::path& dir);
  Status start_etcd();
  Status make_links();
  Status run(Process& process);
  [[nodiscard]] std::vector<std::string> etcd_words(std::uint32_t member) const;
  [[nodiscard]] std::vector<std::string> environment_of(const Process& process) const;
  [[nodiscard]] const Process* host_of(NodeId node, std::uint32_t seat) const;

  struct LinkEnds {
    std::string from, to;
  };

  const Reaper& reaper_;
  std::filesystem::path dir_, disk_shim_, clock_shim_, etcd_program_;
  std::string timers_;  // as kTimersVariable says them
  Deployment deployment_;
  std::optional<Topology> topology_;
  std::unique_ptr<Namespaces> namespaces_;
  std::unique_ptr<SmallDisks> disks_;
  std::string here_ = "127.0.0.1";
  std::vector<std::uint16_t> etcd_ports_;        ///< the members' for clients, then those for peers
  std::map<std::string, std::string> state_of_;  // an agent's own way to etcd
  std::vector<Process> processes_;
  std::vector<LinkEnds> ends_;
  std::vector<LinkFaults> wanted_, applied_;
  LinkProxies proxies_;
  Supervisor supervisor_;
};

/// Where a library that is loaded before libc is, "disk" or "clock"; empty if it was not built or
/// is nowhere near.
[[nodiscard]] std::filesystem::path shim(const std::string& name);

}  // namespace starling::chaos_live
