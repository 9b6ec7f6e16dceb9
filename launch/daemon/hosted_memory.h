// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "agents/epoch_authority.h"
#include "launch/deployment/deployment.h"
#include "scheduling/policy_memory.h"

namespace starling {

/// Where what the policy of a partition learns outlives one life of it: with state in etcd beside
/// the partition's journal, so that a host that takes it over goes on from there, but no more often
/// than kEtcdApart, since etcd keeps what is replaced for a while; else the file. Failures go to
/// the log, once until it works again, and are not tried again sooner than that.
///
/// Nothing is kept before a read has said what is there. A life that began without what it finds
/// then leaves that for the next one until it has itself had kSpared to learn.
class HostedMemory final : public PolicyMemory {
 public:
  /// `prefix` of log lines. The deployment outlives it.
  HostedMemory(const Deployment& deployment, const Ownership& mine, std::filesystem::path file,
               std::string prefix);

  /// What is kept; empty: nothing, or it cannot be read, asked twice, which is logged.
  [[nodiscard]] std::string read();
  void keep(std::span<const std::byte> memory) override;
  void drop(const std::string& why) override;
  /// Now and then, and at the end (`last`): writes what had to wait.
  void flush(bool last);
  static constexpr std::chrono::seconds kEtcdApart{30}, kSpared{3600};

 private:
  const Deployment& deployment_;
  Ownership mine_;
  std::filesystem::path file_;
  std::string prefix_;
  [[nodiscard]] Result<std::string> load() const;
  [[nodiscard]] Status write() const;
  /// Reads what could not be read when this life began.
  void look_again(std::chrono::steady_clock::time_point now);

  bool kept_ = true, dropped_ = false;
  bool read_ = true;  ///< a read has said what is there
  std::optional<std::string> waiting_;
  std::chrono::steady_clock::time_point next_{};    ///< write
  std::chrono::steady_clock::time_point spared_{};  ///< what is there, until then
};

}  // namespace starling
