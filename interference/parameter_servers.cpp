// SPDX-License-Identifier: Apache-2.0
#include "interference/parameter_servers.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr double kForward = 1.0 / 3;  // of a gradient; the usual count of FLOPs

// Pushed and pulled with each parameter server by each worker.
double shard_of(const ModelProfile& model, const ServerSpread& spread) {
  return 2 * model.gradient_mib * 1048576.0 / spread.servers;
}

}  // namespace

double served_network_bytes(const ModelProfile& model, const ServerSpread& spread) {
  if (spread.hosts < 2) return 0;
  const double w = spread.workers / spread.hosts;  // of one host
  const double least = std::floor(spread.servers / spread.hosts);
  const double most = std::ceil(spread.servers / spread.hosts);
  return shard_of(model, spread) *
         std::max(w * (spread.servers - least), most * (spread.workers - w));
}

double served_s(const ModelProfile& model, double grad_s, const ServerSpread& spread,
                const SyncPath& path) {
  const double shard = shard_of(model, spread);
  const double on_host = std::max(spread.servers, spread.workers) / spread.hosts;
  double exchange = shard * std::max(on_host, 1.0) / path.local;
  if (path.tier >= Tier::rack)
    exchange = std::max(exchange, served_network_bytes(model, spread) / path.network);
  exchange = std::max(exchange, path.least_s);
  exchange += shard * spread.workers / (spread.cpus * kServerBytesPerCpuS);
  exchange += step_latency_s(path.tier) * (spread.workers + spread.servers);
  const double layers = std::max<double>(model.layers, 1);
  const double backward = (1 - kForward) * grad_s;
  return kForward * grad_s + std::max(backward + exchange / layers, backward / layers + exchange);
}

}  // namespace starling
