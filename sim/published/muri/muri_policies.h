// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "sim/published/muri/muri_servers.h"
#include "sim/published/muri/muri_simulator.h"
#include "sim/published/muri/service_queues.h"

namespace starling {

/// SRTF and, by what is left times GPUs, SRSF: the jobs in that order, each that still fits.
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

/// Tiresias-L: by queues of service. By count: no servers.
class MuriTiresias final : public MuriPolicy {
 public:
  void enter(MuriJob& job) override { queues_.enter(job); }
  void leave(MuriJob& job) override { queues_.leave(job); }
  void choose(double now_s, std::vector<MuriJob*>& jobs) override;
  [[nodiscard]] std::optional<double> next_change_s(
      double now_s, const std::vector<MuriJob*>& jobs) const override {
    return queues_.next_move_s(now_s, jobs);
  }

 private:
  ServiceQueues queues_;
};

}  // namespace starling
