// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/check.h"
#include "base/ids.h"
#include "base/result.h"
#include "base/time.h"
#include "launch/client/client_answers.h"
#include "topology/topology.h"
#include "workload/job.h"
#include "workload/queue_tree.h"

namespace starling {

struct Deployment;
class FreshIds;
class Session;

/// A flock as one of its users sees it: a call for each thing that a user does. What `starling`'s
/// commands do with a running flock they do by this class, and so can any other program.
///
/// Calls print nothing and block until they have their answer, at most for their `patience`. Where
/// only some of the agents answer in time the others are named as `silent`, and what they know is
/// missing; without any answer it is `not_ready`. Other errors of all calls: `not_found` and
/// `invalid` for the directory, `busy` where thousands of programs use the same client's key.
///
/// One thread at a time; any number of threads and processes may have one each. What this key may
/// do is the flock's business (docs/security.md): one that may not is told `invalid`. Asked again,
/// all calls but new_id() and add_member() do once what they do; a member that is added or removed
/// a second time is `invalid`.
///
/// A program that has called catch_stop_signals() and is asked to stop has its calls end early.
class FlockClient {
 public:
  /// The flock that lives in `dir`; speaks to no agent yet.
  static Result<std::unique_ptr<FlockClient>> open(const std::filesystem::path& dir);
  ~FlockClient();
  FlockClient(const FlockClient&) = delete;
  FlockClient& operator=(const FlockClient&) = delete;

  /// Takes a place on the flock's bus, which other calls do where it was not done.
  [[nodiscard]] Status connect();
  /// Reads again what the flock consists of. True: it has other servers now, so that ids of servers
  /// and GPUs from before mean others.
  [[nodiscard]] Result<bool> reread();

  [[nodiscard]] const Topology& topology() const noexcept { return topology_; }
  [[nodiscard]] std::uint32_t agents() const;
  /// The server of that name, or else of that number.
  [[nodiscard]] std::optional<ServerId> server_named(const std::string& text) const;
  /// agent-3, or 3.
  [[nodiscard]] std::optional<AgentId> agent_named(const std::string& text) const;
  /// The agent that owns a server.
  [[nodiscard]] AgentId owner_of(ServerId server) const;
  /// On which agent's host `agent` lived when it was heard last.
  [[nodiscard]] AgentId host_of(AgentId agent) const;
  /// The user that the flock takes this client for. Connected.
  [[nodiscard]] std::string user() const;

  /// Done, or `invalid`: why the flock could never run it. Types of GPUs get the topology's
  /// spelling; one of them has to be there.
  [[nodiscard]] Status can_run(JobSpec& job) const;
  /// Makes the job this user's, where it does not say whose it is. `invalid`: it says another, and
  /// only root submits for others.
  [[nodiscard]] Status set_user(JobSpec& job);
  /// An id for a job, such that one of the agents that answer is its home. Submitting it again
  /// submits it once.
  [[nodiscard]] Result<JobId> new_id(Duration patience = std::chrono::seconds(10));
  /// Hands the job over; its id is there. Once it is done the job is durable. `invalid`: refused,
  /// and why. `not_ready`: its home has not answered, and may still have accepted it.
  [[nodiscard]] Result<SubmittedJob> submit(const JobSpec& job,
                                            Duration patience = std::chrono::seconds(10));
  /// The same for many, until each has been taken; `patience` is for the next answer. The first
  /// error ends it: what was taken before stays.
  [[nodiscard]] Status submit_all(const std::vector<JobSpec>& jobs,
                                  Duration patience = std::chrono::seconds(10));
  /// Another job than `job` that has its id, and so was kept instead; nothing if there is none, or
  /// if it cannot be told.
  [[nodiscard]] std::optional<JobState> instead_of(const JobSpec& job, const SubmittedJob& said,
                                                   Duration patience = std::chrono::seconds(10));

  /// How a job is. `not_found`: no agent knows it; `not_ready`: those that answer do not.
  [[nodiscard]] Result<JobState> job(JobId job, Duration patience = std::chrono::seconds(10));
  /// The same for what a user typed: an id, with or without its leading zeros, or the beginning of
  /// one job's id. `invalid`: it is no id, or the beginning of several.
  [[nodiscard]] Result<JobState> job(const std::string& text,
                                     Duration patience = std::chrono::seconds(20));
  [[nodiscard]] Result<JobsFound> jobs(Duration patience = std::chrono::seconds(60));
  /// How a job has ended. `not_ready`: it has not.
  [[nodiscard]] Result<JobState> ended(JobId job, Duration patience);
  /// Why it waits, or what it does: what its home says, then what other agents say that have GPUs
  /// of it.
  [[nodiscard]] Result<ExplainedJob> explain(const JobState& job,
                                             Duration patience = std::chrono::seconds(10));
  /// Ends jobs, wherever they are: what became of each, in the same order. A gang that runs is
  /// stopped politely at first, and then by force.
  [[nodiscard]] Result<std::vector<CancelledJob>> cancel(
      std::vector<JobState> jobs, Duration patience = std::chrono::seconds(30));
  /// Holds jobs, releases or requeues them: what became of each, in the same order. A requeue is of
  /// the attempt that `jobs` say.
  [[nodiscard]] Result<std::vector<ChangedJob>> change(
      std::vector<JobState> jobs, JobChange change, Duration patience = std::chrono::seconds(20));
  /// The jobs that a user's text means: that of an id or of the beginning of one job's, task 7 of
  /// an array as ID_7, all tasks of an array by its id or the beginning of it, a job's number
  /// (job_number.h) where `numbers`. `not_found`: no agent that answers knows it; `invalid`: it is
  /// no id, or the beginning of several.
  [[nodiscard]] Result<std::vector<JobState>> jobs_named(
      const std::string& text, bool numbers = false, Duration patience = std::chrono::seconds(20));
  /// What a job is to wait for, of AfterText: those that have ended as they were to are left out.
  /// `invalid`: one has ended otherwise, or they are too many; else as jobs_named().
  [[nodiscard]] Result<std::vector<After>> others(const std::string& text, bool numbers = false);
  // What a job prints: launch/client/output_of_job.h.

  /// Tells the owner of a server to drain it or to use it again, until that is durable. With the
  /// version of an earlier answer, in the place of 0, it asks how many attempts are left.
  /// `unsupported`: the owner
  /// knows no drains; `invalid`: it refuses; `conflict`: another client has said something else
  /// since, or the servers have changed.
  [[nodiscard]] Result<DrainState> drain(const SetDrain& word,
                                         Duration patience = std::chrono::seconds(25));
  /// The queues in force, what is used of them, and the agents that do not go by them yet. Version
  /// 0: none were ever set. `unsupported`, here and below: the agent of partition
  /// 0, which keeps them, knows no queues.
  [[nodiscard]] Result<QueuesState> queues(Duration patience = std::chrono::seconds(10));
  /// Puts other queues into force; the tree's version is chosen here. Done once it is durable at
  /// their keeper; other agents go by it soon after. The same queues again change nothing.
  /// `invalid`: check_queues() or the keeper refuses, and why; `conflict`: another client has set
  /// others meanwhile; `not_ready`: they may be in force all the same.
  [[nodiscard]] Result<QueuesState> set_queues(QueueTree tree,
                                               Duration patience = std::chrono::seconds(25));
  [[nodiscard]] Result<AgentsFound> agents_found(Duration patience = std::chrono::seconds(2));
  /// Which agents serve the partitions. `unsupported`, here and below: the flock's state is not in
  /// etcd, so that no agent comes or goes.
  [[nodiscard]] Result<MembersFound> members(Duration patience = std::chrono::seconds(2));
  /// Makes an agent a member, or no member any more; nothing given: the first that is none.
  /// `invalid` says why not.
  [[nodiscard]] Result<MembersChange> add_member(std::optional<AgentId> agent);
  [[nodiscard]] Result<MembersChange> remove_member(AgentId agent);
  /// Waits until each partition is served where it should be; those that are not. A host that does
  /// not run gets its own once it is started.
  [[nodiscard]] Result<std::vector<PartitionId>> unserved(
      const MembersChange& change, Duration patience = std::chrono::seconds(20));

  /// For what has no call here. Connected.
  [[nodiscard]] Session& session() { return STARLING_CHECK(session_ != nullptr), *session_; }
  [[nodiscard]] const Deployment& deployment() const noexcept { return *deployment_; }

 private:
  FlockClient(Deployment deployment, Topology topology);

  std::unique_ptr<Deployment> deployment_;
  Topology topology_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<FreshIds> ids_;
};

}  // namespace starling
