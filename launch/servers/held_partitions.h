// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "agents/record.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"
#include "launch/servers/partition_state.h"

namespace starling {

/// Partitions of a flock with state in etcd that no agent serves while its servers change: taken
/// as their agents take them, by the holder of their agents' own directories, and released with the
/// object. One that is killed meanwhile leaves what an agent does that is killed.
class HeldPartitions {
 public:
  /// `flock` outlives it.
  explicit HeldPartitions(const Deployment& flock) : flock_(flock) {}
  ~HeldPartitions();
  HeldPartitions(const HeldPartitions&) = delete;
  HeldPartitions& operator=(const HeldPartitions&) = delete;

  /// What is in the journal of `agent`'s partition, which is held from here on. Waits a quarter of
  /// a minute for the lease of one that was killed; `conflict`: it is still served then, from
  /// wherever. `io`: etcd; `invalid`: the journal.
  [[nodiscard]] Result<std::vector<Record>> take(const DeployedNode& agent);

  /// Whether no host has had any of them since, asked of etcd now. `conflict` names one.
  [[nodiscard]] Status still_held();

 private:
  struct Held {
    StateDir dir;
    PartitionState partition;
  };
  void renew();

  const Deployment& flock_;
  std::vector<Held> held_;
};

}  // namespace starling
