// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/local_flock.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "launch/launchers/part_folders.h"

namespace starling {

Status start_node(Supervisor& supervisor, const Deployment& flock, const DeployedNode& node,
                  std::uint16_t protocol) {
  const auto dir = flock.node_dir(node.name);
  const char* command = node.role == Role::agent ? "agent" : "executor";
  return supervisor.start(node.name,
                          {own_program(), command, "--config", (dir / "config.json").string(),
                           "--protocol", std::to_string(protocol)},
                          dir / "log", {}, Supervisor::EarlyStop::waits);
}

Status start_flock(Supervisor& supervisor, const Deployment& flock, const FlockMembers& members,
                   std::uint16_t protocol) {
  for (const DeployedNode& node : flock.nodes) {
    if (node.role == Role::client) continue;
    if (node.role == Role::agent && !members.is_host(AgentId{node.partition.value})) continue;
    if (auto started = start_node(supervisor, flock, node, protocol); !started.ok()) return started;
  }
  return done();
}

void end_jobs(const Deployment& flock, const std::string& host) {
  for (const DeployedNode* node : flock.with_role(Role::executor)) {
    if (node->host == host) (void)end_parts(flock.node_dir(node->name) / "parts", kEndGrace);
  }
}

Result<std::filesystem::path> temporary_dir() {
  std::error_code error;
  const auto parent = std::filesystem::temp_directory_path(error);
  std::string name =
      ((error ? std::filesystem::path("/tmp") : parent) / "starling-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return {Errc::io, name + ": " + std::strerror(errno)};
  return std::filesystem::path(name);
}

}  // namespace starling
