// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "base/ids.h"
#include "base/result.h"
#include "store/etcd/etcd_client.h"

namespace starling {

/// Which agents' processes take part in a flock, and which of them should serve each partition. A
/// preference, not a right: which agent owns a partition is decided by its epoch, and any that
/// takes part may take over what its preferred host does not serve.
struct FlockMembers {
  std::set<AgentId> hosts;                   ///< empty: every agent is one
  std::map<PartitionId, AgentId> preferred;  ///< missing: the partition's own agent
  std::int64_t revision = 0;                 ///< of what was read; 0: nothing was ever written

  [[nodiscard]] bool is_host(AgentId agent) const { return hosts.empty() || hosts.contains(agent); }
  [[nodiscard]] AgentId host_of(PartitionId partition) const;
};

/// "hosts 0 2\npartition 0 at 0\n...": one line each. `invalid` names the line.
[[nodiscard]] std::string to_text(const FlockMembers& members);
[[nodiscard]] Result<FlockMembers> parse_members(const std::string& text);

/// Where it stands in etcd.
[[nodiscard]] std::string members_key(const EtcdAddress& flock);
[[nodiscard]] Result<FlockMembers> read_members(EtcdCalls& client, const EtcdAddress& flock);
/// `conflict` if it was changed since `members` was read.
[[nodiscard]] Status write_members(EtcdCalls& client, const EtcdAddress& flock,
                                   const FlockMembers& members);

/// `now` with the hosts `hosts`, which are not empty, for the partitions 0 to `partitions` - 1.
/// Partitions of hosts that are gone move, and as few others as make the numbers of partitions
/// differ by one at most, a host's own ones first. `may` says which host can serve what; numbers
/// may differ by more where it says no. A partition that no agent may serve stays where it is.
[[nodiscard]] FlockMembers balanced(const FlockMembers& now, std::set<AgentId> hosts,
                                    std::uint32_t partitions,
                                    const std::function<bool(PartitionId, AgentId)>& may);

}  // namespace starling
