// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "interference/sync.h"
#include "workload/catalogue.h"

namespace starling {

/// Bytes that a parameter server takes in and gives out in a second with each of its CPUs. From
/// DL2's testbed (MXNet, 2 CPUs a server): step time t + a/p + b of w = 1 or 2 workers, put through
/// its constants at 1 worker and 1 server and its best measured configuration, gives 2S/a of 129
/// MB/s for resnet-50 (20 servers, 2 workers, 4.3 x) and 292 MB/s for vgg-16 (14, 1, 3.0 x): 64 to
/// 146 MB/s for each CPU, of which this is about the geometric mean.
constexpr double kServerBytesPerCpuS = 100e6;

/// How a gang's workers and parameter servers lie: spread evenly, the servers over the same hosts.
struct ServerSpread {
  double workers = 1, servers = 1;  ///< of the gang
  double hosts = 1;                 ///< with a way of their own to the network
  /// CPUs of each server that it really gets; 0: it needs none, and all but its links is for free.
  double cpus = 0;
};

/// Bytes that the busier side of one host's way to the network carries in one exchange, in one
/// direction: what its workers push to the servers of other hosts, or what the workers of others
/// push to its servers, and the same again for the pull (DL2's two bandwidths, the smaller of which
/// counts; tasks of a host share its NICs). 0 for one host.
[[nodiscard]] double served_network_bytes(const ModelProfile& model, const ServerSpread& spread);

/// Seconds of one step whose gradients take grad_s, where servers cost what they do:
///
///   T = F + max(B + X/L, B/L + X)
///   X = transfer + 2S w / (p cpus kServerBytesPerCpuS) + latency (w + p)
///
/// F and B are forward and backward (a third and two of grad_s). X is Optimus' exchange (EuroSys
/// 2018: transfer, update in w/p, connections in w and p). L layers, taken for equal, are pushed
/// one by one as their backward is done: SMD's max over layers (INFOCOM 2021), which is linear in
/// the layer and so largest at the first or the last; L = 1 is the sum. Transfer: the larger of
/// served_network_bytes over the network and 2S/p for max(p, w) of a host over its local links.
[[nodiscard]] double served_s(const ModelProfile& model, double grad_s, const ServerSpread& spread,
                              const SyncPath& path);

}  // namespace starling
