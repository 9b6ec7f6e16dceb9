// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/time.h"
#include "sim/run/run_result.h"
#include "topology/compare.h"
#include "topology/placement.h"
#include "topology/topology.h"

namespace starling {

/// What became of a run, to be watched later. Times are seconds since its start; `until_s` of
/// what lasted to the end is that.
struct Recording {
  struct Job {
    std::string name, model;
    double submit_s = 0, end_s = -1;  ///< -1: it has not ended
    JobPhase state = JobPhase::unknown;
    std::uint32_t gpus = 0;  ///< that it asked for
    std::uint32_t home = 0;  ///< the last one
    std::uint32_t forwards = 0;
    double alone_s = 0;  ///< how long it takes where nothing slows it
  };
  /// The processes of one attempt on one server.
  struct Share {
    std::uint32_t job = 0;      ///< index
    std::uint32_t attempt = 0;  ///< of the job, from 0
    double from_s = 0, until_s = -1;
    Placement gpus;        ///< ascending
    bool stopped = false;  ///< it did not end by itself
  };
  struct Outage {  // of a daemon
    bool agent = false;
    std::uint32_t number = 0;
    double from_s = 0, until_s = -1;
  };
  struct SickGpu {
    GpuId gpu;
    double from_s = 0, until_s = -1;
  };
  struct Note {
    double at_s = 0;
    std::string what;
  };
  /// Frames of one kind from one agent to another in one interval.
  struct Frames {
    double at_s = 0;  ///< its beginning
    std::uint32_t from = 0, to = 0, kind = 0, count = 0;
  };
  /// What the policy of its home said of a job, a line each, when it decided about it.
  struct Why {
    double at_s = 0;
    std::uint32_t job = 0;  ///< index
    std::vector<std::string> lines;
  };
  /// From then on so much of a link's bandwidth is used in one of its directions.
  struct LinkLoad {
    double at_s = 0;
    std::uint32_t link = 0;     ///< 2 * index of Topology::network_links(), plus 1 from b to a
    std::uint32_t percent = 0;  ///< of what gangs can have of it
  };
  Topology topology;
  std::vector<IndexRange> agents, executors;  ///< servers of each
  std::string policy, workload;
  std::uint64_t seed = 0;
  double end_s = 0;
  std::vector<Job> jobs = {};
  std::vector<Share> shares = {};
  std::vector<Outage> outages = {};
  std::vector<SickGpu> sick = {};
  std::vector<Note> notes = {};  ///< faults, servers that changed
  double frames_each_s = 0;
  std::vector<Frames> frames = {};
  std::vector<Why> whys = {};
  std::uint64_t whys_left_out = 0;   ///< beyond RunRecorder::kWhyBytes
  double loads_each_s = 0;           ///< of an interval only a link's last load is kept
  std::vector<LinkLoad> loads = {};  ///< by time; none where the physics knows no flows
};

/// Told by a world of what happens, in its order; keeps what `starling view` shows. It changes
/// nothing: a recorded run is the run that it would have been. Its memory grows with attempts, and
/// with frames to a bound: when there are more than kFramesMax entries, those of two intervals
/// become one; what does not fit into a single one is not kept. A world begins a recording anew;
/// before, nothing may be told.
class RunRecorder {
 public:
  static constexpr std::size_t kFramesMax = 20'000;
  static constexpr std::size_t kLoadsMax = 40'000;
  static constexpr std::size_t kWhyBytes = std::size_t{4} << 20U;

  void begins(const Topology& topology, std::vector<IndexRange> agents,
              std::vector<IndexRange> executors);
  void starts(Instant now, const AttemptId& attempt, const Placement& gpus);
  void ends(Instant now, const AttemptId& attempt, const Placement& gpus, bool stopped);
  void frame(Instant now, std::uint32_t from, std::uint32_t to, std::size_t kind);
  void down(Instant now, bool agent, std::uint32_t number);
  void up(Instant now, bool agent, std::uint32_t number);
  void sick(Instant now, GpuId gpu, bool is_sick);
  void note(Instant now, std::string what);
  /// Nothing, or what was told of the job last, is not kept again.
  void why(Instant now, JobId job, std::vector<std::string> lines);
  /// Of all links in both directions, as parts of what they carry, by LinkDirection.
  void link_loads(Instant now, const std::vector<double>& parts);
  /// GPUs have other numbers from now on; what comes to new servers is not kept.
  void renumber(Instant now, const Renumbering& numbers);
  /// The run is over: jobs and figures. May be called once for each begins().
  void over(Instant now, const RunResult& run);

  /// None: no world has begun.
  [[nodiscard]] const std::optional<Recording>& recording() const noexcept { return recording_; }

 private:
  [[nodiscard]] Placement first_numbers(const Placement& gpus) const;
  std::uint32_t job_of(JobId job);
  void thin();
  void thin_loads();

  std::optional<Recording> recording_;
  std::map<JobId, std::uint32_t> jobs_;
  std::map<AttemptId, std::uint32_t> attempts_;
  std::vector<std::uint32_t> tried_;  ///< attempts, by job
  std::map<std::pair<AttemptId, GpuId>, std::size_t> open_;
  std::map<std::pair<bool, std::uint32_t>, std::size_t> down_;
  std::map<GpuId, std::size_t> sick_;
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> interval_;
  std::map<std::uint32_t, std::size_t> last_why_;  ///< of a job
  std::size_t why_bytes_ = 0;
  std::vector<std::uint32_t> percent_;  ///< of each link, as told last
  std::vector<std::uint32_t> first_;    ///< the first number of each present GPU; empty: the same
};

}  // namespace starling
