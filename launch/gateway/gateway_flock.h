// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>

#include "launch/gateway/asking/flock_picture.h"
#include "launch/gateway/asking/flock_workers.h"
#include "launch/gateway/asking/job_submitter.h"
#include "launch/gateway/asking/log_streams.h"
#include "launch/gateway/asking/picture_reader.h"
#include "launch/gateway/event_hub.h"
#include "launch/gateway/figures/request_counts.h"

namespace starling {

struct GatewayLimits {
  std::size_t asking_threads = 4;  ///< that wait for agents
  std::size_t most_asking = 256;   ///< requests that wait for one of them
  std::size_t most_submitting = 20'000;
  std::size_t most_watchers = 4096;
  std::size_t most_logs = 64;
};

/// A flock behind the gateway, as its handlers see it: the last picture, what has happened since
/// then, and threads that ask. All calls come from one thread, the server's; what other threads
/// find out is handed to that by `later`.
class GatewayFlock {
 public:
  using Later = std::function<void(std::function<void()>)>;
  GatewayFlock(const std::filesystem::path& dir, const GatewayLimits& limits, Later later);

  /// Null until the flock was read for the first time.
  [[nodiscard]] FlockPicturePtr picture() const { return picture_; }
  /// Why the flock is not ready; empty: it is.
  [[nodiscard]] std::string not_ready() const;
  /// How a job is, as far as it is known here: newer than in the picture where it was submitted
  /// here. Null: it is not known.
  [[nodiscard]] const JobState* job(JobId id) const;
  /// Those that are newer than the picture.
  [[nodiscard]] const std::unordered_map<JobId, JobState>& news() const { return news_; }
  /// Something is known of a job that the picture does not have yet.
  void learn(const JobState& state);
  /// In the server's thread, soon.
  void later(std::function<void()> what) const { later_(std::move(what)); }
  /// To be called ten times a second.
  void tick() { events_.flush(); }

  [[nodiscard]] EventHub& events() noexcept { return events_; }
  [[nodiscard]] RequestCounts& counts() noexcept { return counts_; }
  [[nodiscard]] JobSubmitter& submitter() noexcept { return submitter_; }
  [[nodiscard]] FlockWorkers& workers() noexcept { return workers_; }
  /// For what takes time and asks no agent.
  [[nodiscard]] FlockWorkers& sorters() noexcept { return sorters_; }
  [[nodiscard]] LogStreams& logs() noexcept { return logs_; }
  [[nodiscard]] const GatewayLimits& limits() const noexcept { return limits_; }

 private:
  struct Changes;
  void show(const FlockPicturePtr& picture, const Changes& changes);
  void say_job(const JobState& state);

  const GatewayLimits limits_;
  const Later later_;
  FlockPicturePtr picture_;
  std::unordered_map<JobId, JobState> news_;
  std::unordered_map<JobId, Instant> heard_at_;
  std::unordered_map<JobId, std::uint64_t> said_;  // signatures
  EventHub events_;
  RequestCounts counts_;
  // Last: their threads end before what they hand things to.
  JobSubmitter submitter_;
  FlockWorkers workers_, sorters_;
  LogStreams logs_;
  PictureReader reader_;
};

}  // namespace starling
