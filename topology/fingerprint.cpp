// SPDX-License-Identifier: Apache-2.0
#include "topology/fingerprint.h"

#include "base/hash.h"

namespace starling {

std::uint64_t fingerprint_of(const Topology& topology) {
  TraceHash hash;
  for (const Subtree& subtree : topology.subtrees()) {
    hash.add(static_cast<std::uint64_t>(subtree.level));
    hash.add(std::uint64_t{subtree.parent});
    hash.add((std::uint64_t{subtree.servers.first} << 32U) | subtree.servers.last);
  }
  for (const Server& server : topology.servers()) {
    hash.add(server.name);
    hash.add((std::uint64_t{server.gpus.first} << 32U) | server.gpus.last);
    if (server.gpus.size() > 0) hash.add(topology.gpu_types()[server.gpu_type.value].name);
  }
  return hash.value() == 0 ? 1 : hash.value();
}

}  // namespace starling
