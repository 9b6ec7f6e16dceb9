// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "interference/speed.h"
#include "launch/deployment/deployment.h"
#include "topology/topology.h"

namespace starling {

/// The speed model of one life of a partition, as the deployment has it, and the file that keeps
/// what it learns. Weights that cannot be used stop nothing: the analytic model stands in, the log
/// says why, and every answer counts as a fallback.
class HostedSpeed final : public SpeedMemory {
 public:
  /// Takes up again what `file` holds; what cannot be used is said and left behind. `prefix` of log
  /// lines. The topology outlives it.
  HostedSpeed(const Deployment& deployment, const Topology& topology, std::filesystem::path file,
              std::string prefix);

  [[nodiscard]] SpeedModel& model() noexcept { return *model_; }
  /// What is measured is to be handed to the model.
  [[nodiscard]] bool learns() const noexcept { return learns_; }
  void keep(std::span<const std::byte> state) override;
  /// Puts news of drift and fallbacks into the log.
  void say();

 private:
  std::filesystem::path file_;
  std::string prefix_;
  std::unique_ptr<Physics> physics_;
  std::unique_ptr<SpeedModel> model_;
  std::uint64_t drifts_ = 0;
  bool learns_ = false, fell_back_ = false, kept_ = true;
};

}  // namespace starling
