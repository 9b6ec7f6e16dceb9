// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "agents/client.h"
#include "launch/chaos/audit.h"
#include "launch/chaos/scenario/job_draw.h"
#include "launch/chaos/scenario/scenario.h"
#include "launch/client/session.h"

namespace starling::chaos_live {

/// The clients of a flock that is broken: submits jobs at a rate, submits some again, cancels and
/// asks about some, and follows each to its end. Everything that it does and hears goes to the
/// audit.
class Load {
 public:
  /// How long a submit waited for its first answer.
  struct Answer {
    double at = 0, took = 0;
    bool excused = false;  ///< a fault lasted, or an agent was away
  };

  Load(const ChaosScenario& scenario, std::filesystem::path work, Session& session, Audit& audit);

  /// Submits what is due, at `factor` times the rate.
  void step(double now, double factor);
  /// Takes in what has come, waiting `patience` seconds at most; `hear` sees each message first.
  void exchange(double patience, bool excused,
                const std::function<void(NodeId from, const Message&)>& hear);
  /// A job of one GPU for `agent` at once; its id. It is offered again at each call of knock().
  JobId probe(std::uint32_t agent);
  void knock(JobId probe);
  /// Also the last jobs are asked about soon.
  void ask_all(double now);

  [[nodiscard]] const Client& client() const noexcept { return client_; }
  [[nodiscard]] std::uint64_t submitted() const noexcept { return next_; }
  [[nodiscard]] const std::vector<Answer>& answers() const noexcept { return answers_; }
  /// Submits that wait for their first answer longer than `seconds` now, none of them excused.
  [[nodiscard]] std::size_t unanswered(double now, double seconds) const;

 private:
  struct Errand {
    double due = 0;
    int what = 0;  // 0: again, 1: cancel, 2: ask
    JobId job;
    std::uint32_t home = 0;
  };
  JobSpec spec(double seconds, std::uint32_t workers, std::uint32_t gpus,
               Manner manner = Manner::plain);
  void submit(double now, const DrawnJob& drawn);
  void run_errands(double now);
  void answered(JobId job, double now, bool excused);

  const ChaosScenario& scenario_;
  std::filesystem::path work_;
  Session& session_;
  Audit& audit_;
  Client client_;
  JobDraw draw_;
  Output out_;
  std::uint64_t next_ = 0;
  double due_ = -1;
  std::vector<Errand> errands_;
  std::map<JobId, JobSpec> again_;   // specs of jobs that are to be submitted again
  std::map<JobId, double> waiting_;  // since when for a first answer
  std::map<JobId, bool> excused_;    // of those
  std::vector<Answer> answers_;
  bool disturbed_ = false;
};

/// Seconds of the machine's monotonic clock, which jobs read too.
[[nodiscard]] double now_seconds();

}  // namespace starling::chaos_live
