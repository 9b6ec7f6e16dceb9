// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "agents/message.h"
#include "base/ids.h"

namespace starling::chaos_live {

struct Violation {
  double at = 0;  ///< seconds from the start of the run
  std::string rule, message;
};

/// What the client did and was told, and what the jobs' own processes wrote down, held against what
/// is promised. All times are seconds of one clock. Rules:
///   gpu      two processes had one GPU
///   twice    two attempts of a job lived at once
///   ended    a job had two ends, or an end that was no end
///   refused  an accepted job was refused later
///   forgot   an accepted job is not known any more
///   lost     an accepted job has no end
///   free     a job has ended, and a process of it still has its GPUs
///   work     a job that has finished did not do its work, or did some after its end was known
class Audit {
 public:
  struct Totals {
    std::uint64_t submitted = 0, accepted = 0, finished = 0, cancelled = 0, failed = 0, refused = 0;
    std::uint64_t attempts = 0;  ///< that started a process
    std::uint64_t work_repeated =
        0;  ///< jobs whose work was done more than once, one after the other
    std::uint64_t answers = 0;
  };

  /// `records` is what jobs write (job.h); empty: there is none, as with emulated GPUs. Every
  /// operation and answer goes to `history` as a line: seconds, what, job, to or from which node,
  /// and for states the phase; empty: nowhere.
  Audit(std::filesystem::path records, const std::filesystem::path& history, double began);

  /// `fails`: its command does not end well.
  void submitted(double now, JobId job, bool may_be_cancelled, bool fails = false);
  /// By a client of its own, of which only its end is heard; `accepted` once it has been told so.
  void submitted_elsewhere(double now, JobId job, bool fails);
  void accepted_elsewhere(double now, JobId job);
  /// Something else was asked of an agent: again, cancel, query.
  void asked(double now, const char* what, JobId job, std::uint32_t agent);
  void told(double now, NodeId from, const Message& message);
  /// Reads what the jobs have written since the last call.
  void read_records();

  /// Once everything is over: `known` is what the agents say of all jobs, when they were asked.
  void settle(double now, const std::vector<JobState>& known);

  [[nodiscard]] const std::vector<Violation>& violations() const noexcept { return violations_; }
  void violate(double at, std::string rule, std::string message);
  [[nodiscard]] Totals totals() const;
  /// Accepted jobs without an end, as far as the client was told.
  [[nodiscard]] std::size_t open() const noexcept { return open_; }
  [[nodiscard]] const std::vector<double>& starts() const noexcept { return starts_; }

  /// One job's history, for the story of a violation and for the page.
  struct Job {
    JobId id;
    double submitted = -1, accepted = -1, started = -1, ended = -1;
    JobPhase end = JobPhase::unknown;
    bool may_be_cancelled = false, fails = false, refused = false;
    bool elsewhere = false;  ///< another client waits for it
    std::uint32_t world = 0;
    struct Attempt {
      std::string name;
      std::set<std::uint32_t> started, ended;
      double last_start = 0;
    };
    std::vector<Attempt> attempts;
  };
  [[nodiscard]] const std::vector<Job>& jobs() const noexcept { return jobs_; }
  [[nodiscard]] std::string story(JobId job) const;

 private:
  Job* find(JobId job);
  void read(const std::string& line);
  void ended(double now, Job& job, JobPhase phase);
  void look_for_its_processes(double now, const Job& job);
  [[nodiscard]] static bool whole(const Job::Attempt& attempt, std::uint32_t world);

  void note(double now, const char* what, JobId job, const std::string& rest);

  std::filesystem::path file_;
  std::ofstream history_;
  std::ifstream records_;
  std::string rest_;
  double began_;
  std::vector<Job> jobs_;
  std::unordered_map<JobId, std::size_t> index_;
  std::vector<double> starts_;
  std::vector<Violation> violations_;
  std::set<std::string> said_;
  std::size_t open_ = 0;
  std::uint64_t answers_ = 0;
};

}  // namespace starling::chaos_live
