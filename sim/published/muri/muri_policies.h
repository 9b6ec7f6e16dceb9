// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "sim/published/muri/muri_simulator.h"

namespace starling {

/// The cluster of Muri's simulations.
inline constexpr std::uint32_t kMuriServers = 8;
inline constexpr std::uint32_t kMuriServerGpus = 8;

/// SRTF and, by what is left times GPUs, SRSF: the jobs in that order, each that still fits. A gang
/// of a server's size at most takes the first server that has room, a larger one whole servers.
class MuriShortest final : public MuriPolicy {
 public:
  explicit MuriShortest(bool by_service) : by_service_(by_service) {}
  void choose(double now_s, std::vector<MuriJob*>& jobs) override;

 private:
  [[nodiscard]] double key(const MuriJob& job) const noexcept {
    return by_service_ ? job.left_s() * job.gpus : job.left_s();
  }
  bool by_service_;
};

/// Tiresias-L: three queues, left after 3,250 and 7,200 s of service on a GPU; in each, those that
/// run go before those that wait. By count: no servers.
class MuriTiresias final : public MuriPolicy {
 public:
  void enter(MuriJob& job) override { queues_[0].push_back(&job); }
  void leave(MuriJob& job) override { std::erase(queues_[job.queue], &job); }
  void choose(double now_s, std::vector<MuriJob*>& jobs) override;
  [[nodiscard]] std::optional<double> next_change_s(
      double now_s, const std::vector<MuriJob*>& jobs) const override;

 private:
  std::array<std::vector<MuriJob*>, 3> queues_;
};

}  // namespace starling
