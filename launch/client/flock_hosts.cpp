// SPDX-License-Identifier: Apache-2.0
#include "launch/client/flock_hosts.h"

#include <utility>

#include "launch/deployment/etcd_state.h"

namespace starling {

FlockHosts::FlockHosts(EtcdAddress address, Flock seats, std::uint32_t agents)
    : address_(std::move(address)),
      client_(address_, kEpochCalls),
      seats_(std::move(seats)),
      agents_(agents) {}

Result<FlockHosts> FlockHosts::open(const Deployment& flock) {
  if (flock.state.empty()) {
    return {Errc::unsupported,
            "the agents of this flock keep their state in its directory, so each serves its own "
            "partition for ever; members come and go where 'starling up' had --state etcd://..."};
  }
  auto address = etcd_address(flock);
  if (!address) return address.error();
  auto seats = read_flock(flock.dir / "flock.json");
  if (!seats) return seats.error();
  return FlockHosts(std::move(address).value(), std::move(seats).value(), flock.agents());
}

Result<FlockMembers> FlockHosts::read() { return read_members(client_, address_); }

Status FlockHosts::write(const FlockMembers& members) {
  return write_members(client_, address_, members);
}

std::set<AgentId> FlockHosts::all(const FlockMembers& members) const {
  std::set<AgentId> hosts = members.hosts;
  for (std::uint32_t a = 0; hosts.size() < agents_ && members.hosts.empty() && a < agents_; ++a)
    hosts.insert(AgentId{a});
  return hosts;
}

bool FlockHosts::may_serve(PartitionId partition, AgentId host) const {
  const auto member = seats_.find(agent_node(AgentId{partition.value}));
  if (member == seats_.end()) return false;
  for (std::uint32_t i = 0; i < member->second.seats(); ++i) {
    if (host_of_seat(partition, i, agents_) == host) return true;
  }
  return false;
}

Result<FlockMembers> FlockHosts::with(const FlockMembers& now, std::set<AgentId> hosts) const {
  if (hosts.empty()) return {Errc::invalid, "a flock has one member at least"};
  FlockMembers next = balanced(now, std::move(hosts), agents_,
                               [this](PartitionId p, AgentId host) { return may_serve(p, host); });
  for (std::uint32_t p = 0; p < agents_; ++p) {
    const AgentId host = next.host_of(PartitionId{p});
    if (next.hosts.contains(host)) continue;
    return {Errc::invalid, "no member has a seat of partition " + std::to_string(p) +
                               ", which only the agents behind it in the circle have; "
                               "a flock made with more --standbys has more"};
  }
  return next;
}

Status choose_members(const Deployment& flock, std::uint32_t agents) {
  auto hosts = FlockHosts::open(flock);
  if (!hosts) return hosts.error();
  std::set<AgentId> members;
  for (std::uint32_t a = 0; a < agents; ++a) members.insert(AgentId{a});
  const auto chosen = hosts.value().with({}, std::move(members));
  return chosen ? hosts.value().write(chosen.value()) : Status(chosen.error());
}

}  // namespace starling
