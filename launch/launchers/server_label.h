// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "topology/topology.h"

namespace starling {

/// What a server and its GPUs are called in names of files and locks: what runs keeps them, also
/// when numbers change (launch/servers). Never another server's.
struct ServerLabel {
  std::string server;
  std::string gpus;             ///< before the number of a GPU
  std::uint32_t first_gpu = 0;  ///< number of its first GPU
};

/// Where the servers have never changed.
[[nodiscard]] inline ServerLabel plain_label(const Topology& topology, ServerId server) {
  return {std::to_string(server.value), "", topology.server(server).gpus.first};
}

}  // namespace starling
