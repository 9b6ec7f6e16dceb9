// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/server_addresses.h"

#include <map>

#include "bus/flock.h"

namespace starling {

Result<std::function<std::string(ServerId)>> server_addresses(const Deployment& deployment) {
  auto members = read_flock(deployment.dir / "flock.json");
  if (!members) return members.error();
  std::map<std::uint32_t, std::string> by_last;  // the last server of each executor
  for (const DeployedNode* node : deployment.with_role(Role::executor)) {
    const auto member = members.value().find(node->id);
    if (member == members.value().end() || node->servers.size() == 0) continue;
    const std::string prefix = "tcp://", &at = member->second.address;
    if (!at.starts_with(prefix)) continue;
    by_last[node->servers.last - 1] = at.substr(prefix.size(), at.rfind(':') - prefix.size());
  }
  return std::function<std::string(ServerId)>([by_last](ServerId server) {
    const auto it = by_last.lower_bound(server.value);
    return it == by_last.end() ? std::string("127.0.0.1") : it->second;
  });
}

}  // namespace starling
