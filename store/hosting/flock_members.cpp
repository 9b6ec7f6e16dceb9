// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/flock_members.h"

#include <algorithm>
#include <sstream>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/planted.h"

namespace starling {

AgentId FlockMembers::host_of(PartitionId partition) const {
  const auto other = preferred.find(partition);
  return other == preferred.end() ? AgentId{partition.value} : other->second;
}

std::string to_text(const FlockMembers& members) {
  std::string text = "hosts";
  for (const AgentId host : members.hosts) text += " " + std::to_string(host.value);
  text += "\n";
  for (const auto& [partition, host] : members.preferred) {
    text +=
        "partition " + std::to_string(partition.value) + " at " + std::to_string(host.value) + "\n";
  }
  return text;
}

Result<FlockMembers> parse_members(const std::string& text) {
  FlockMembers members;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string kind, at;
    std::uint32_t partition = 0, host = 0;
    ++number;
    words >> kind;
    bool right = false;
    if (kind == "hosts") {
      while (words >> host) members.hosts.insert(AgentId{host});
      right = words.eof();
    } else if (kind == "partition") {
      right = static_cast<bool>(words >> partition >> at >> host) && at == "at";
      members.preferred[PartitionId{partition}] = AgentId{host};
    }
    if (!right) {
      return {Errc::invalid, "members: line " + std::to_string(number) + ": '" + line +
                                 "' is neither 'hosts N...' nor 'partition N at N'"};
    }
  }
  return members;
}

std::string members_key(const EtcdAddress& flock) { return etcd_root(flock) + "members"; }

Result<FlockMembers> read_members(EtcdCalls& client, const EtcdAddress& flock) {
  const auto answer = client.txn({{}, {EtcdOp::get(members_key(flock))}, {}});
  if (!answer) return answer.error();
  if (answer.value().found.size() != 1)
    return {Errc::invalid, "etcd: an answer of another size than the question"};
  if (answer.value().found[0].empty()) return FlockMembers{};
  const EtcdEntry& entry = answer.value().found[0].front();
  auto members = parse_members(entry.value);
  if (members) members.value().revision = entry.revision;
  return members;
}

Status write_members(EtcdCalls& client, const EtcdAddress& flock, const FlockMembers& members) {
  const std::string key = members_key(flock), text = to_text(members);
  // A second attempt that finds its own text was done before.
  const auto answer = client.txn({{EtcdCompare::revision_is(key, members.revision)},
                                  {EtcdOp::put(key, text)},
                                  {EtcdOp::get(key)}});
  if (!answer) return answer.error();
  if (answer.value().held) return done();
  const auto& found = answer.value().found;
  if (!found.empty() && !found[0].empty() && found[0].front().value == text) return done();
  return {Errc::conflict, "another command has changed the members meanwhile; try again"};
}

FlockMembers balanced(const FlockMembers& now, std::set<AgentId> hosts, std::uint32_t partitions,
                      const std::function<bool(PartitionId, AgentId)>& may) {
  STARLING_CHECK(!hosts.empty());
  std::map<AgentId, std::set<PartitionId>> at;
  for (const AgentId host : hosts) at[host];
  FlockMembers next;
  next.hosts = std::move(hosts);
  next.revision = now.revision;
  std::vector<PartitionId> unhosted;
  const auto put = [&](PartitionId p, AgentId host) {
    next.preferred[p] = host;
    if (at.contains(host)) at[host].insert(p);
  };
  for (std::uint32_t i = 0; i < partitions; ++i) {
    const PartitionId p{i};
    const AgentId host = now.host_of(p);
    const bool stays = at.contains(host) || planted(Bug::gone_host_keeps_partitions);
    stays ? put(p, host) : unhosted.push_back(p);
  }
  const auto fewest_first = [&](PartitionId p) {
    return [&, p](const auto& a, const auto& b) {
      if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
      return (a.first.value == p.value) > (b.first.value == p.value);
    };
  };
  for (const PartitionId p : unhosted) {
    std::vector<std::pair<AgentId, std::set<PartitionId>>> able;
    for (const auto& entry : at) {
      if (may(p, entry.first)) able.push_back(entry);
    }
    const auto best = std::min_element(able.begin(), able.end(), fewest_first(p));
    put(p, best == able.end() ? now.host_of(p) : best->first);
  }
  // One move after the other from one with two more than another that may have it.
  for (bool moved = true; moved;) {
    moved = false;
    std::pair<std::size_t, bool> best{1, false};  // difference, whether it comes to its own agent
    PartitionId what;
    AgentId from, to;
    for (const auto& [rich, its] : at) {
      for (const auto& [poor, has] : at) {
        if (its.size() < has.size() + 2) continue;
        for (const PartitionId p : its) {
          const std::pair<std::size_t, bool> gain{its.size() - has.size(), p.value == poor.value};
          if (gain <= best || !may(p, poor)) continue;
          best = gain, what = p, from = rich, to = poor, moved = true;
        }
      }
    }
    if (!moved) break;
    at[from].erase(what);
    put(what, to);
  }
  return next;
}

}  // namespace starling
