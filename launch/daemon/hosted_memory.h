// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "agents/epoch_authority.h"
#include "launch/deployment/deployment.h"
#include "scheduling/policy_memory.h"

namespace starling {

/// Where what the policy of a partition learns outlives one life of it: with state in etcd beside the
/// partition's journal, so that a host that takes it over goes on from there; else the file.
/// Failures go to the log, once until it works again.
class HostedMemory final : public PolicyMemory {
 public:
  /// `prefix` of log lines. The deployment outlives it.
  HostedMemory(const Deployment& deployment, const Ownership& mine, std::filesystem::path file,
               std::string prefix);

  /// What is kept; empty: nothing, or it cannot be read, which is logged.
  [[nodiscard]] std::string read();
  void keep(std::span<const std::byte> memory) override;

 private:
  const Deployment& deployment_;
  Ownership mine_;
  std::filesystem::path file_;
  std::string prefix_;
  bool kept_ = true;
};

}  // namespace starling
