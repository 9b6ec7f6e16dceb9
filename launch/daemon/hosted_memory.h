// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "agents/epoch_authority.h"
#include "launch/deployment/deployment.h"
#include "scheduling/policy_memory.h"

namespace starling {

/// Where what the policy of a partition learns outlives one life of it: with state in etcd beside the
/// partition's journal, so that a host that takes it over goes on from there, but no more often than
/// kEtcdApart, since etcd keeps what is replaced for a while; else the file. Failures go to the log,
/// once until it works again, and are not tried again sooner than that.
class HostedMemory final : public PolicyMemory {
 public:
  /// `prefix` of log lines. The deployment outlives it.
  HostedMemory(const Deployment& deployment, const Ownership& mine, std::filesystem::path file,
               std::string prefix);

  /// What is kept; empty: nothing, or it cannot be read, which is logged.
  [[nodiscard]] std::string read();
  void keep(std::span<const std::byte> memory) override;
  /// Now and then, and at the end (`last`): writes what had to wait.
  void flush(bool last);
  static constexpr std::chrono::seconds kEtcdApart{30};

 private:
  const Deployment& deployment_;
  Ownership mine_;
  std::filesystem::path file_;
  std::string prefix_;
  bool kept_ = true;
  std::string waiting_;
  std::chrono::steady_clock::time_point next_{};  ///< write
};

}  // namespace starling
