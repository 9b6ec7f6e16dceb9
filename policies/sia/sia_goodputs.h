// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "policies/elastic/batches.h"
#include "policies/elastic/believed_curves.h"
#include "policies/sia/sia_program.h"
#include "scheduling/packing.h"
#include "scheduling/policy.h"

namespace starling {

/// Sia's configurations of a job and how fast it is by each. On a GPU type of the partition: powers
/// of two of its workers' GPUs within a server, then whole servers (at first one more each time,
/// beyond eight an eighth more), of an elastic job between its smallest and its largest size, and
/// its smallest itself; of any other job the size it asks for.
///
/// How fast it is is asked of the place that the partition has for it while no job is there: of the
/// speed model or, `measured`, of what was measured of the job or of its kind (BelievedCurves). Of
/// whom nothing was measured, twice the GPUs are twice as fast, and types differ as one GPU of each
/// does. `rebatches`: elastic jobs run with the batch that suits their GPUs (BatchChoices).
class SiaGoodputs {
 public:
  struct Options {
    bool rebatches = false, measured = false;
  };
  explicit SiaGoodputs(const Options& options) : options_(options) {}

  /// At every call of the policy, first. `empty`: the partition with everything free.
  void observe(const View& view, const Occupancy& empty);
  /// By type (an index of types()), then by GPUs, at most `most` of them or the smallest that there
  /// is; goodput is progress in that of the size asked for. Empty: no type holds the job.
  [[nodiscard]] std::vector<SiaProblem::Choice> of(const View& view, const Occupancy& empty,
                                                   const JobSpec& job, std::uint32_t most);
  /// How fast it is where it runs; above 0.
  [[nodiscard]] double pace(const View& view, const JobView& job) const;
  /// How the job is to run there.
  [[nodiscard]] Allocation allocation(const View& view, const JobSpec& job,
                                      const Placement& placement);
  /// GPU types of the partition, ascending. As of the last observe().
  [[nodiscard]] const std::vector<GpuTypeId>& types() const noexcept { return types_; }
  /// Where so many GPUs of that type are for the job: within one server, or whole ones.
  [[nodiscard]] std::optional<Placement> find_place(const Occupancy& gpus, const JobSpec& job,
                                                    GpuTypeId type, std::uint32_t count) const;

  void learn() { curves_.learn(); }
  /// For Policy::save().
  void save(MemoryWriter& out) const { curves_.save(out); }
  void restore(MemoryReader& in) { curves_.restore(in); }
  [[nodiscard]] std::uint64_t version() const noexcept { return curves_.version(); }

 private:
  static constexpr std::size_t kMostKinds = 4096;
  /// Model, GPUs per worker, workers asked for, at least and at most, CPUs, memory, GPU types.
  using Kind = std::tuple<std::string, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                          double, double, std::vector<std::string>, RunDetails>;
  /// One that the partition has a place for.
  struct Known {
    std::size_t type = 0;  // of types_
    std::uint32_t gpus = 1;
    bool asked = false;    // the rest is known, too
    Placement place = {};  // empty: none
    Allocation how = {};
    double alone = 0;     // speed of one GPU of the type
    double modelled = 0;  // as the speed model says
  };
  [[nodiscard]] std::vector<Known>& known_of(const Occupancy& empty, const JobSpec& job);
  [[nodiscard]] std::vector<std::uint32_t> sizes_on(const Occupancy& empty, const JobSpec& job,
                                                    GpuTypeId type) const;
  void ask(const View& view, const Occupancy& empty, const JobSpec& job, Known& known);
  [[nodiscard]] double goodput(const View& view, const JobSpec& job, const Known& known) const;

  Options options_;
  BelievedCurves curves_;
  BatchChoices batches_;
  std::vector<GpuTypeId> types_;
  std::map<Kind, std::vector<Known>> kinds_;
  std::uint64_t model_ = 0;  // version of the speed model that was asked
};

/// GPUs of the smallest and of the largest size that the job may have.
[[nodiscard]] std::uint32_t least_gpus_of(const JobSpec& job);
[[nodiscard]] std::uint32_t most_gpus_of(const JobSpec& job);

}  // namespace starling
