// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"

namespace starling {

/// A job of the published simulator of Muri (Zhao et al., SIGCOMM 2022). Its numbers are double
/// seconds, and so are these: ends that fall together do so in the last bit alone.
struct MuriJob {
  std::uint32_t gpus = 1;
  double submit_s = 0;
  double iteration_s = 0;  ///< as published, 1.5 % above the measured one
  double iterations_left = 0;
  double overhead_s = 0;  ///< that each event costs while it runs, started there or not
  /// Of an iteration alone: loading data, computing on the GPU, exchanging. They may overlap.
  std::array<double, 3> stages_s{};
  double duration_s = 0;  ///< what the trace has; not iterations times iteration_s
  bool runs = false;
  /// Of those with which it shares GPUs; as long as it has them to itself, its own.
  double shared_iteration_s = 0, shared_overhead_s = 0;
  double seen_s = 0;        ///< the last event
  double executed_s = 0;    ///< time that it ran
  std::uint32_t queue = 0;  ///< of Tiresias
  double end_s = -1;

  [[nodiscard]] double left_s() const noexcept { return iterations_left * iteration_s; }
  void has_gpus_alone() noexcept {
    shared_iteration_s = iteration_s;
    shared_overhead_s = overhead_s;
  }
};

/// Jobs of a trace of muri/ in order of submission, equal times in that of the file. `at_once`: all
/// submitted at 0, as its traces N_pr.
[[nodiscard]] Result<std::vector<MuriJob>> read_muri_jobs(const std::filesystem::path& file,
                                                          bool at_once);

/// Which jobs run. Called at every event, after the progress of all has been counted.
class MuriPolicy {
 public:
  virtual ~MuriPolicy() = default;
  virtual void enter(MuriJob& /*job*/) {}
  virtual void leave(MuriJob& /*job*/) {}
  /// Sets `runs` of each of `jobs`, and may sort them; they come as they were left.
  virtual void choose(double now_s, std::vector<MuriJob*>& jobs) = 0;
  /// Are an end and an arrival one event?
  [[nodiscard]] virtual bool together(double end_s, double comes_s) const noexcept {
    return end_s == comes_s;
  }
  /// When the choice could be another although no job comes or ends.
  [[nodiscard]] virtual std::optional<double> next_change_s(
      double /*now_s*/, const std::vector<MuriJob*>& /*jobs*/) const {
    return std::nullopt;
  }
};

struct MuriFigures {
  std::size_t jobs = 0;  ///< that ended
  double mean_jct_s = 0, makespan_s = 0, p99_jct_s = 0;
};

/// Runs all to their end, from event to event: what falls together ends first, then comes, then is
/// chosen anew. At each event a running job has done nothing in its overhead.
[[nodiscard]] MuriFigures run_muri(std::vector<MuriJob> jobs, MuriPolicy& policy);

}  // namespace starling
