// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/agent/agent.h"
#include "agents/client.h"
#include "agents/executor/executor.h"
#include "agents/step/state.h"
#include "policies/registry.h"
#include "topology/topology.h"

namespace starling {

// For tests: a small flock of real cores (agents, executors, one client) on a network of queues,
// with journals in memory and processes that are entries in a map.

// Loops over points of failure or policies look at every one; with the address sanitizer, which
// makes a step take ten times as long, at every third.
#ifdef __SANITIZE_ADDRESS__
constexpr std::uint64_t kSparse = 3;
#else
constexpr std::uint64_t kSparse = 1;
#endif
[[nodiscard]] constexpr bool is_sampled(std::uint64_t index) { return index % kSparse == 0; }

struct FlockOptions {
  std::uint32_t agents = 1;
  std::uint32_t servers = 2;  ///< in all, split evenly among the agents
  std::uint32_t gpus_per_server = 4;
  std::uint32_t servers_per_domain = 0;  ///< scale-up domains of so many; 0: none
  double cpus_of_last = 0;               ///< of the last server; 0: 64, as all others
  std::uint32_t servers_per_executor = 1;
  std::string policy = "fifo:queue=skip";
  std::uint64_t seed = 1;
  Duration delay{0};  ///< one way; a random part of `jitter` on top, so frames overtake one another
  Duration jitter{0};
  double loss = 0, duplication = 0;
  bool lossy = false;                 ///< real timers: heartbeats, digests and repeats
  Duration orphan = Timers{}.orphan;  ///< where lossy
  Limits limits = {};
  std::uint32_t flood_most = AgentConfig{}.flood_most;  ///< as there
  std::uint16_t protocol = kNewestProtocol;  ///< of agent 0 and executor 0; all others the newest
  /// Makes what decides in the place of `policy`; empty: none.
  std::function<std::unique_ptr<Policy>()> make_policy = {};
};

class TestFlock {
 public:
  explicit TestFlock(const FlockOptions& options);

  /// Job `n` (its id) with `gpus` single-GPU workers that run for `duration`; 0 s: until stopped.
  JobId submit(std::uint64_t n, std::uint32_t gpus, Duration duration, std::uint32_t home = 0);
  JobId submit(JobSpec spec, std::uint32_t home);
  void cancel(std::uint64_t n);
  /// A message from a second client.
  void ask(std::uint32_t agent, Message message);
  /// At once, past the network.
  void inject(std::uint32_t agent, NodeId from, const Message& message, const Asker& by = {}) {
    step_agent(agent, Received{from, message, kNewestProtocol, by});
  }
  void inject_executor(std::uint32_t executor, NodeId from, const Message& message) {
    step_executor(executor, Received{from, message});
  }
  void lose_no_more(const std::string& kind) { lose_.erase(kind); }
  void tell(NodeId from, NodeId to, Message message) { post(from, {to, std::move(message)}); }

  /// One message, end of a process or tick. False: nothing will ever happen any more.
  bool step();
  void run_for(Duration d);
  /// Until everything is over and free again, at most `most`. False: it is not.
  bool settle(Duration most);
  [[nodiscard]] bool settled() const;

  void crash_agent(std::uint32_t agent);
  /// From its journal; `compacted`: from its snapshot at the crash.
  void restart_agent(std::uint32_t agent, bool compacted = false);
  /// The next life of a dead agent knows nothing.
  void lose_journal(std::uint32_t agent) { agents_[agent].journal.clear(); }
  /// The next life of a dead agent begins from that.
  void put_back(std::uint32_t agent, std::vector<Record> journal) {
    agents_[agent].journal = std::move(journal);
  }
  void set_policy(const std::string& policy, std::uint32_t jobs_per_gpu);
  /// The machine: its processes die, too.
  void crash_executor(std::uint32_t executor);
  /// After crash_executor(), or alone: then its processes live on.
  void restart_executor(std::uint32_t executor);
  /// What its calendar says at Instant 0, from its next life on.
  void date_agent(std::uint32_t agent, Duration calendar) {
    agents_[agent].config.calendar = calendar;
  }
  /// Its next life has read another topology, or the right one again.
  void mislead_agent(std::uint32_t agent) { agents_[agent].config.topology ^= 1; }
  void mislead_executor(std::uint32_t e) { executors_[e].config.topology ^= 1; }
  /// The agent dies with its `n`th step from now, after writing and, if so, before sending.
  void crash_agent_at(std::uint32_t agent, std::uint64_t n, bool before_sending);

  /// What happens to the next message of a kind: lost, or for Launch refused.
  void lose_next(const std::string& kind, std::uint32_t n = 1) { lose_[kind] += n; }
  void refuse_next_launch(std::uint32_t n = 1) { refuse_launches_ += n; }
  /// Nothing passes between the two any more, or again.
  void set_cut(NodeId a, NodeId b, bool is_cut);
  /// The agent runs no cycle for so long; what comes for it waits.
  void freeze_agent(std::uint32_t agent, Duration d) { agents_[agent].frozen_until = now_ + d; }
  /// What the machine says of the executor's GPUs from now on.
  void set_sick(std::uint32_t executor, Placement gpus) {
    step_executor(executor, SickGpus{std::move(gpus)});
  }
  /// So many of them something of the executor's last life still uses.
  void set_in_use(std::uint32_t executor, Placement gpus) {
    step_executor(executor, SickGpus{{}, std::move(gpus)});
  }
  /// Nothing can be started there: at once lost.
  void set_starts_fail(std::uint32_t executor, bool fail) {
    fail ? (void)starts_fail_.insert(executor) : (void)starts_fail_.erase(executor);
  }
  /// Each of its processes is lost so long after its start.
  void set_lost_after(std::uint64_t job, Duration after) { losses_[job] = after; }
  void set_exit_code(std::uint64_t job, int code) { exit_codes_[job] = code; }
  void heal() {
    options_.loss = options_.duplication = 0;
    cuts_.clear();
  }
  /// No frame gets from one node to the other.
  void cut(NodeId from, NodeId to) { cuts_.insert({from, to}); }
  void cut_off(NodeId a, NodeId b) { cut(a, b), cut(b, a); }

  [[nodiscard]] const AgentState& agent(std::uint32_t a) const { return agents_[a].core->state(); }
  [[nodiscard]] const ExecutorState& executor(std::uint32_t e) const {
    return executors_[e].core->state();
  }
  /// What a next life would be before its first step, from the journal or the snapshot.
  [[nodiscard]] std::unique_ptr<Agent> replayed_agent(std::uint32_t a, bool compacted) const;
  [[nodiscard]] std::unique_ptr<Executor> replayed_executor(std::uint32_t e, bool compacted) const;
  [[nodiscard]] bool is_up(std::uint32_t a) const { return agents_[a].core != nullptr; }
  [[nodiscard]] bool is_agent_number(std::uint32_t a) const { return a < agents_.size(); }
  [[nodiscard]] std::uint64_t steps_of(std::uint32_t a) const { return agents_[a].steps; }
  [[nodiscard]] const Client& client() const { return *client_; }
  [[nodiscard]] JobPhase phase(std::uint64_t n) const;
  [[nodiscard]] std::size_t processes() const { return processes_.size(); }
  [[nodiscard]] std::uint64_t launches() const noexcept { return launches_; }
  [[nodiscard]] Instant now() const noexcept { return now_; }
  [[nodiscard]] const std::vector<Record>& journal(std::uint32_t a) const {
    return agents_[a].journal;
  }
  [[nodiscard]] const std::vector<Record>& executor_journal(std::uint32_t e) const {
    return executors_[e].journal;
  }
  [[nodiscard]] const ExecutorConfig& executor_config(std::uint32_t e) const {
    return executors_[e].config;
  }
  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  /// What broke a rule: a GPU twice, a job twice, a part without the whole, a second end.
  [[nodiscard]] const std::vector<std::string>& faults() const noexcept { return faults_; }
  /// Every message, record, start and end since the last call, a line each.
  [[nodiscard]] std::vector<std::string> take_transcript();

 private:
  struct AgentSlot {
    AgentConfig config;
    std::unique_ptr<Agent> core;
    std::vector<Record> journal, snapshot;
    std::map<std::uint64_t, std::map<JobId, JobState>> archive;
    std::uint64_t steps = 0;
    Instant frozen_until = Instant::min();
    std::uint64_t crash_at = 0;  // counts down; 0: never
    bool crash_before_sending = false;
  };
  struct ExecutorSlot {
    ExecutorConfig config;
    std::unique_ptr<Executor> core;
    std::vector<Record> journal;
  };
  struct Event {
    NodeId from, to;
    std::optional<Message> message;  // none: an end of a process
    AttemptId attempt;
    ServerId server;
    std::uint64_t version = 0;
  };
  struct Process {
    std::uint32_t executor = 0;
    Placement gpus;
    Instant started;
    std::uint64_t version = 0;
    int code = 0;
    bool lost = false;
  };
  using ProcessKey = std::pair<AttemptId, ServerId>;

  void plan();
  [[nodiscard]] std::unique_ptr<Policy> new_policy() const;
  void start_agent(std::uint32_t a, const std::vector<Record>& recovered);
  void post(NodeId from, const Send& send);
  void handle(const Event& event);
  void step_agent(std::uint32_t a, const starling::Event& event);
  void step_executor(std::uint32_t e, const ExecutorEvent& event);
  void step_client(const starling::Event& event);
  void run(std::uint32_t e, const RunCommand& command);
  bool tick_one();
  [[nodiscard]] Instant next_instant() const;
  void check();
  void check_record(std::uint32_t a, const Record& record);
  void fault(const std::string& what);
  void note(const std::string& line);

  FlockOptions options_;
  Topology topology_;
  PolicyRegistry policies_;
  std::unique_ptr<SpeedModel> speed_;
  Rng rng_;
  Instant now_{};
  std::vector<AgentSlot> agents_;
  std::vector<ExecutorSlot> executors_;
  std::unique_ptr<Client> client_;
  std::multimap<Instant, Event> queue_;  // equal instants keep their order
  std::map<ProcessKey, Process> processes_;
  std::map<std::string, std::uint32_t> lose_;
  std::uint32_t refuse_launches_ = 0;
  std::set<std::pair<NodeId, NodeId>> cuts_;
  std::map<std::uint64_t, int> exit_codes_;
  std::set<std::uint32_t> starts_fail_;
  std::map<std::uint64_t, Duration> losses_;
  std::map<JobId, JobPhase> ended_;
  std::map<AttemptId, std::vector<Share>> starting_;
  std::map<std::pair<AttemptId, PartitionId>, bool> committed_;
  std::uint64_t launches_ = 0, versions_ = 0;
  std::vector<std::string> faults_, transcript_;
};

/// "Launch of attempt 1.1 of job 3 on GPUs 0-1": for transcripts.
[[nodiscard]] std::string describe(const Message& message);
[[nodiscard]] std::string describe(const Record& record);

}  // namespace starling
