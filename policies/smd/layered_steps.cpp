// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/layered_steps.h"

#include <algorithm>
#include <map>

#include "interference/parameter_servers.h"
#include "interference/sync.h"
#include "workload/catalogue.h"

namespace starling {
namespace {

constexpr double kForward = 1.0 / 3;  // of a gradient, as in interference/parameter_servers.cpp
constexpr double kMiB = 1048576;

}  // namespace

double LayeredSteps::step_s(double workers, double servers) const noexcept {
  const double samples = batch / workers, share = workers / servers;
  double backward = 0;
  for (const Layer& layer : layers) backward += layer.backward_s;
  double exchange = 0, longest = 0;
  for (const Layer& layer : layers) {
    exchange += layer.exchange_s;
    longest = std::max(longest, samples * backward + share * exchange);
    backward -= layer.backward_s;
  }
  return samples * forward_s + longest + worker_s * workers + server_s * servers;
}

PartitionLink partition_link(const Topology& topology, IndexRange servers) {
  std::map<std::pair<std::uint16_t, double>, std::uint32_t> gpus;
  for (std::uint32_t s = servers.first; s < servers.last; ++s) {
    const Server& server = topology.server(ServerId{s});
    gpus[{server.gpu_type.value, server.nic_gbps}] += server.gpus.size();
  }
  if (gpus.empty()) return {};
  const auto& [most, count] = *std::max_element(
      gpus.begin(), gpus.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return {most.second * 1e9 / 8 * kNetworkShare, GpuTypeId{most.first}};
}

LayeredSteps layered_steps(const JobSpec& job, const Topology& topology,
                           const PartitionLink& link) {
  const ModelProfile& model = model_profile(job.model);
  const double speed =
      std::max(speed_on(model, gpu_kind(topology.gpu_types()[link.type.value].name)), 1e-3);
  const double gradient_s = model.iteration_s / speed;
  const double bytes = 2 * model.gradient_mib * kMiB;
  double exchange_s = link.bytes_per_s > 0 ? bytes / link.bytes_per_s : 0;
  if (job.run.server_cpus > 0) exchange_s += bytes / (job.run.server_cpus * kServerBytesPerCpuS);
  LayeredSteps steps;
  steps.batch = job.gpus();
  steps.forward_s = kForward * gradient_s;
  const std::size_t layers = std::max<std::size_t>(model.layers, 1);
  const auto part = static_cast<double>(layers);
  steps.layers.assign(layers, {(1 - kForward) * gradient_s / part, exchange_s / part});
  steps.worker_s = steps.server_s = step_latency_s(Tier::rack);
  return steps;
}

}  // namespace starling
