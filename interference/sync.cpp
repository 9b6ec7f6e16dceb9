// SPDX-License-Identifier: Apache-2.0
#include "interference/sync.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "interference/fitted.h"
#include "interference/overlap.h"
#include "interference/parameter_servers.h"

namespace starling {
namespace {

// Of one step of the ring, by tier; usual figures of NCCL over NVLink, PCIe and RDMA.
constexpr std::array<double, kTiers> kStepLatency = {5e-6, 5e-6, 10e-6, 25e-6, 40e-6};

double bytes_of(const ModelProfile& model) { return model.gradient_mib * 1048576.0; }

double ring_s(const ModelProfile& model, double n, const SyncPath& path) {
  const double bandwidth =
      path.tier >= Tier::rack ? std::min(path.local, path.network) : path.local;
  return 2 * (n - 1) / n * bytes_of(model) / bandwidth;
}

// What the network costs of an exchange, at the bandwidth that it was fitted at.
double fitted_leave_s(const FittedSync& fit, double n) {
  return 2 * (n - 1) / n * fit.leave_transfer_s +
         2 * (std::min<double>(n, kFittedGpus) - 1) * fit.leave_step_s;
}

double fitted_s(const FittedSync& fit, double n, const SyncPath& path) {
  const double transfers = 2 * (n - 1) / n;
  const double steps = 2 * (std::min<double>(n, kFittedGpus) - 1);
  const double local = fit.server_gbps * 1e9 / 8 * kPcieShare / path.local;
  double sync = (transfers * fit.server_transfer_s + steps * fit.server_step_s) * local;
  if (path.tier >= Tier::rack) {
    const double network = fit.network_gbps * 1e9 / 8 * kNetworkShare / path.network;
    sync += fitted_leave_s(fit, n) * network;
  }
  return sync;
}

double parameter_server_s(const ModelProfile& model, double w, double servers, double p,
                          const SyncPath& path) {
  const double shard = 2 * bytes_of(model) / p;
  double sync = shard * std::max(p, w) / path.local;
  if (path.tier >= Tier::rack) {
    const double away = (servers - 1) / servers;  // of the servers and workers, from each one
    sync = std::max(sync, shard * std::max(p, w) * away / path.network);
  }
  return sync;
}

}  // namespace

double step_latency_s(Tier tier) noexcept { return kStepLatency[static_cast<std::size_t>(tier)]; }

double synced_s(const ModelProfile& model, double grad_s, std::size_t gpus, std::size_t servers,
                const ParameterServers& parameter_servers, const SyncPath& path) noexcept {
  const auto n = static_cast<double>(gpus);
  if (parameter_servers.count > 0) {
    const auto p = static_cast<double>(parameter_servers.count);
    const auto hosts = static_cast<double>(std::max<std::size_t>(servers, 1));
    if (parameter_servers.cpus > 0)
      return served_s(model, grad_s, {n, p, hosts, parameter_servers.cpus}, path);
    const double sync_s = parameter_server_s(model, n, hosts, p, path);
    return grad_s + std::max(sync_s, path.least_s);
  }
  if (gpus < 2) return grad_s;
  const double latency = 2 * (n - 1) * step_latency_s(path.tier);
  if (const FittedSync* fit = fitted_sync(model))
    return overlapped(grad_s, std::max(fitted_s(*fit, n, path) + latency, path.least_s),
                      fit->gamma);
  return overlapped(grad_s, std::max(ring_s(model, n, path) + latency, path.least_s), 2);
}

double network_bytes(const ModelProfile& model, std::size_t gpus, std::size_t servers,
                     const ParameterServers& parameter_servers) noexcept {
  if (servers < 2) return 0;
  const auto n = static_cast<double>(gpus);
  if (parameter_servers.count > 0) {
    const auto p = static_cast<double>(parameter_servers.count);
    const auto hosts = static_cast<double>(servers);
    if (parameter_servers.cpus > 0)
      return served_network_bytes(model, {n, p, hosts, parameter_servers.cpus});
    return 2 * bytes_of(model) / p * std::max(p, n) * (hosts - 1) / hosts;
  }
  const FittedSync* fit = fitted_sync(model);
  if (fit == nullptr) return 2 * (n - 1) / n * bytes_of(model);
  return fitted_leave_s(*fit, n) * fit->network_gbps * 1e9 / 8 * kNetworkShare;
}

}  // namespace starling
