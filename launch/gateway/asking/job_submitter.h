// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "agents/message.h"
#include "base/result.h"
#include "workload/job.h"

namespace starling {

class FlockClient;

/// A thread that hands jobs over, many at a time over one session: none waits for another's answer.
/// What happens to them later it hears as well, as the client that has submitted them.
class JobSubmitter {
 public:
  struct Submission {
    JobSpec job;
    bool has_id = false;  ///< else it gets one
    /// Gets the job as it was accepted, in this thread. Errors as FlockClient::submit; `conflict`:
    /// there is another job of that id.
    std::function<void(Result<JobState>)> done;
  };

  /// `heard` gets what homes tell of jobs that were submitted here, in this thread.
  JobSubmitter(std::filesystem::path dir, std::size_t most_waiting,
               std::function<void(const JobState&)> heard);
  /// Requests that wait for an answer are told `not_ready`.
  ~JobSubmitter();
  JobSubmitter(const JobSubmitter&) = delete;
  JobSubmitter& operator=(const JobSubmitter&) = delete;

  /// False: too many wait.
  [[nodiscard]] bool submit(Submission submission);

 private:
  class Round;
  void run();
  /// What has come since; if not `busy`, after a moment's wait.
  [[nodiscard]] std::vector<Submission> next(bool busy);

  const std::filesystem::path dir_;
  const std::size_t most_waiting_;
  const std::function<void(const JobState&)> heard_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Submission> waiting_;
  std::size_t under_way_ = 0;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace starling
