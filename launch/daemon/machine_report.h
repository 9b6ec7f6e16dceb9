// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "agents/executor/executor.h"
#include "base/time.h"
#include "launch/hardware/hardware_finding.h"
#include "launch/hardware/machine_watch.h"
#include "topology/topology.h"

namespace starling {

/// What an executor knows of its hardware, in the topology's numbers: what was missing at its
/// start, and what a MachineWatch sees, together with which parts of jobs have which GPUs. One
/// thread.
class MachineReport {
 public:
  /// `missing`: findings that hold for this life. `watch` (null: none) and `topology` outlive it.
  MachineReport(const Topology& topology, IndexRange servers, HealthOptions options,
                std::vector<HardwareFinding> missing, const MachineWatch* watch);

  void started(const LaunchSpec& spec, Instant now);
  /// The energy that its GPUs have used meanwhile, in joules; below zero: not known. What two jobs
  /// on one GPU use at the same time counts for both by halves.
  double ended(const Exit& exit);

  /// Looks again. True: sick() or findings() differ from before.
  bool look(Instant now);
  /// Bad GPUs, and as `in_use` those of a server that is drained by its probe on which no attempt
  /// has been since the drain began. An attempt is there until all its parts at this executor have
  /// ended: the owner ends those whose GPUs it is told, as a whole.
  [[nodiscard]] const SickGpus& sick() const noexcept { return sick_; }
  [[nodiscard]] const std::vector<HardwareFinding>& findings() const noexcept { return findings_; }

 private:
  struct Part {
    Placement gpus;
    Instant since;
    std::vector<std::uint64_t> last_mj;  ///< of each GPU, when it was looked at last; 0: never
    double joules = -1;
    bool over = false;
  };
  using Key = std::pair<AttemptId, ServerId>;
  [[nodiscard]] std::uint32_t local(GpuId gpu) const;
  [[nodiscard]] std::string name_of_gpu(GpuId gpu) const;
  [[nodiscard]] std::uint32_t tenants(GpuId gpu) const;
  [[nodiscard]] bool is_held(GpuId gpu) const;
  void meter(const MachineWatch::Word& word);
  void judge_gpus(const MachineWatch::Word& word);
  void drain(const MachineWatch::Word& word);
  void find_idle(const MachineWatch::Word& word, Instant now);

  const Topology& topology_;
  IndexRange servers_;
  HealthOptions options_;
  std::vector<HardwareFinding> missing_;
  const MachineWatch* watch_;
  std::map<Key, Part> parts_;  // of attempts of which a part has not ended
  std::set<GpuId> closed_;     // nothing is to start there while the drain lasts
  SickGpus sick_;
  std::vector<HardwareFinding> findings_;
};

/// The beginning of an executor's life: compares what NVML shows with the topology as `options`
/// say. Notes in the folder of the node which GPUs there were, and the log tells of others. A
/// driver that does not answer within `patience` is a finding, and its GPUs are believed.
/// `invalid`: something is missing, and the options say that this is no way to go on.
[[nodiscard]] Result<std::vector<HardwareFinding>> check_machine(
    const Topology& topology, IndexRange servers, const HealthOptions& options,
    const std::filesystem::path& node_dir, const std::string& library = kNvmlLibrary,
    Duration patience = std::chrono::seconds(20));

}  // namespace starling
