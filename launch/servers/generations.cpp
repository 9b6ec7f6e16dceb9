// SPDX-License-Identifier: Apache-2.0
#include "launch/servers/generations.h"

#include <map>
#include <utility>

#include "base/hash.h"
#include "topology/file/load.h"
#include "topology/fingerprint.h"

namespace starling {

namespace fs = std::filesystem;

fs::path generation_file(const fs::path& dir, std::uint32_t generation) {
  return dir / "servers" / (std::to_string(generation) + ".json");
}

std::string generation_topology(std::uint32_t generation) {
  return "servers/" + std::to_string(generation) + ".yaml";
}

std::uint64_t fingerprint_in(const Deployment& flock, const Topology& topology) {
  const std::uint64_t plain = fingerprint_of(topology);
  if (flock.generation == 1) return plain;
  TraceHash hash;
  hash.add(plain);
  hash.add(std::uint64_t{flock.generation});
  return hash.value() == 0 ? 1 : hash.value();
}

Result<std::vector<Generation>> earlier_generations(const Deployment& now) {
  std::vector<Generation> all;
  for (std::uint32_t g = 1; g < now.generation; ++g) {
    auto flock = read_deployment_in(now.dir, generation_file(now.dir, g));
    if (!flock) return Error{Errc::invalid, flock.error().message};
    auto topology = load_topology((now.dir / flock.value().topology).string());
    if (!topology) return Error{Errc::invalid, topology.error().message};
    const std::uint64_t fingerprint = fingerprint_in(flock.value(), topology.value());
    all.push_back({std::move(flock).value(), std::move(topology).value(), fingerprint});
  }
  return all;
}

std::vector<ServerLabel> server_labels(const std::vector<Generation>& earlier,
                                       const Topology& now) {
  std::map<std::string, std::string> servers;
  // A server with more GPUs than it had could reach into the numbers of the next one.
  std::map<std::pair<std::string, std::uint32_t>, std::pair<std::string, std::uint32_t>> gpus;
  const auto add = [&](const Topology& topology, std::size_t generation) {
    const std::string prefix = generation == 1 ? "" : "g" + std::to_string(generation) + "-";
    for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
      const Server& server = topology.server(ServerId{s});
      servers.emplace(server.name, prefix + std::to_string(s));
      gpus.emplace(std::pair(server.name, server.gpus.size()),
                   std::pair(prefix, server.gpus.first));
    }
  };
  for (std::size_t g = 0; g < earlier.size(); ++g) add(earlier[g].topology, g + 1);
  add(now, earlier.size() + 1);
  std::vector<ServerLabel> labels;
  for (std::uint32_t s = 0; s < now.server_count(); ++s) {
    const Server& server = now.server(ServerId{s});
    const auto& [prefix, first] = gpus.at({server.name, server.gpus.size()});
    labels.push_back({servers.at(server.name), prefix, first});
  }
  return labels;
}

}  // namespace starling
