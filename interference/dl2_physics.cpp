// SPDX-License-Identifier: Apache-2.0
#include "interference/dl2_physics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <vector>

namespace starling {
namespace {

/// So many tasks over so many hosts, the first ones have more.
std::uint32_t part_of(std::uint32_t all, std::size_t hosts, std::size_t at) {
  const auto n = static_cast<std::uint32_t>(hosts);
  return all / n + (at < all % n ? 1U : 0U);
}

void lay_servers(std::vector<Dl2Host>& hosts, std::uint32_t servers) {
  for (std::size_t i = 0; i < hosts.size(); ++i)
    hosts[i].servers = part_of(servers, hosts.size(), i);
}

class Dl2Physics final : public Physics {
 public:
  explicit Dl2Physics(const Topology& topology) : topology_(topology) {
    for (const Server& server : topology.servers())
      largest_ = std::max(largest_, server.gpus.size());
  }

  [[nodiscard]] double rate(const JobProfile& job, const Placement& placement,
                            const Neighbours&) const override {
    const Dl2Model* model = dl2_model(job.model);
    if (model == nullptr || placement.empty()) return 1;
    const double best = best_of(*model, job.gpus, servers_of(job, 0));
    return std::min(1.0, steps_on(*model, placement, servers_of(job, 0)) / best);
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    const Dl2Model* model = dl2_model(job.model);
    if (model == nullptr || job.asked == 0) return linear_scaling(job);
    return best_of(*model, job.gpus, servers_of(job, 0)) /
           best_of(*model, job.asked, asked_servers(job));
  }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    const Dl2Model* model = dl2_model(job.model);
    if (model == nullptr || placement.empty()) return rate(job, placement, beside) * scaling(job);
    const std::uint32_t asked = job.asked > 0 ? job.asked : job.gpus;
    return steps_on(*model, placement, servers_of(job, how.servers)) /
           best_of(*model, asked, asked_servers(job));
  }
  [[nodiscard]] bool varies() const noexcept override { return true; }
  [[nodiscard]] double startup_s(const JobProfile&) const override { return kDl2StartS; }

 private:
  /// A job that says nothing of servers has one a worker.
  static std::uint32_t servers_of(const JobProfile& job, std::uint32_t allocated) {
    const std::uint32_t said = allocated > 0 ? allocated : job.servers();
    return std::max(said > 0 ? said : job.gpus, 1U);
  }
  static std::uint32_t asked_servers(const JobProfile& job) {
    const std::uint32_t asked = job.asked > 0 ? job.asked : job.gpus;
    return std::max(job.asked_servers > 0 ? job.asked_servers : asked, 1U);
  }
  [[nodiscard]] double steps_on(const Dl2Model& model, const Placement& placement,
                                std::uint32_t servers) const {
    std::vector<Dl2Host> hosts;
    for (std::size_t i = 0; i < placement.size(); ++i) {
      if (i == 0 || topology_.server_of(placement[i]) != topology_.server_of(placement[i - 1]))
        hosts.emplace_back();
      ++hosts.back().workers;
    }
    lay_servers(hosts, servers);
    return dl2_steps_per_s(model, hosts);
  }
  [[nodiscard]] double best_of(const Dl2Model& model, std::uint32_t workers,
                               std::uint32_t servers) const {
    const auto [at, fresh] = best_.try_emplace({&model, workers, servers}, 0);
    if (!fresh) return at->second;
    const std::uint32_t least = (workers + largest_ - 1) / std::max(largest_, 1U);
    for (std::uint32_t n = std::max(least, 1U); n <= std::max(workers, 1U); ++n) {
      std::vector<Dl2Host> hosts(n);
      for (std::size_t i = 0; i < n; ++i) hosts[i].workers = part_of(workers, n, i);
      lay_servers(hosts, servers);
      at->second = std::max(at->second, dl2_steps_per_s(model, hosts));
    }
    return at->second;
  }

  const Topology& topology_;
  std::uint32_t largest_ = 1;
  mutable std::map<std::tuple<const Dl2Model*, std::uint32_t, std::uint32_t>, double> best_;
};

}  // namespace

double dl2_steps_per_s(const Dl2Model& model, std::span<const Dl2Host> hosts) {
  double workers = 0, servers = 0, beside = INFINITY;
  for (const Dl2Host& host : hosts) {
    workers += host.workers;
    servers += host.servers;
    if (host.servers > 0) beside = std::min(beside, host.workers);
  }
  const double shard = 2 * model.megabytes / servers;
  const double served = shard * (workers - beside) / model.network_mbs;
  double slowest = 0;
  for (const Dl2Host& host : hosts) {
    if (host.workers == 0) continue;
    const double local =
        host.servers > 0 ? shard * std::max(host.servers, host.workers) / model.local_mbs : 0;
    const double away = shard * (servers - host.servers) / model.network_mbs;
    slowest = std::max(slowest, model.compute_s + std::max({local, away, served}));
  }
  return workers / slowest;
}

std::unique_ptr<Physics> make_dl2_physics(const Topology& topology) {
  return std::make_unique<Dl2Physics>(topology);
}

}  // namespace starling
