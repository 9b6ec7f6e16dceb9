// SPDX-License-Identifier: Apache-2.0
#include "topology/compare.h"

#include <map>
#include <set>

#include "base/short_number.h"

namespace starling {
namespace {

using ByName = std::map<std::string, std::uint32_t>;

Result<ByName> names_of(const Topology& topology) {
  ByName names;
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    const std::string& name = topology.server(ServerId{s}).name;
    if (!names.emplace(name, s).second)
      return {Errc::invalid, "two servers are called '" + name +
                                 "', and servers are told apart by their names; rename one"};
  }
  return names;
}

std::string gpus_text(const Topology& topology, const Server& server) {
  const std::uint32_t count = server.gpus.size();
  if (count == 0) return "no GPUs";
  return std::to_string(count) + " " + topology.gpu_types()[server.gpu_type.value].name +
         (count == 1 ? " GPU" : " GPUs");
}

const std::string& rack_name(const Topology& topology, ServerId server) {
  return topology.subtrees()[topology.rack_of(server)].name;
}

/// The later one has less of it, or says for the first time how much there is.
bool shrinks(double before, double after) { return after > 0 && (before <= 0 || after < before); }

/// What jobs on the server would notice, the first that is found.
std::string change_of(const Topology& before, const Topology& after, ServerId was, ServerId is,
                      const std::set<std::string>& racks_before) {
  const Server &a = before.server(was), &b = after.server(is);
  const std::string gpus_before = gpus_text(before, a), gpus_after = gpus_text(after, b);
  if (gpus_before != gpus_after) return gpus_after + " instead of " + gpus_before;
  const std::string &from = rack_name(before, was), &to = rack_name(after, is);
  // A rack that has another name now is no other rack.
  if (from != to && racks_before.contains(to)) return "moves from '" + from + "' to '" + to + "'";
  if (a.gpus_per_island != b.gpus_per_island || a.switches != b.switches ||
      a.switch_islands != b.switch_islands)
    return "its GPUs are connected otherwise";
  if (shrinks(a.cpus, b.cpus)) return short_number(b.cpus) + " CPUs";
  if (shrinks(a.memory_gib, b.memory_gib)) return short_number(b.memory_gib) + " GiB of memory";
  return {};
}

/// All of it but what compare() says in other words.
bool differs_otherwise(const Topology& before, const Topology& after,
                       const std::vector<KeptServer>& kept, bool same_servers) {
  for (const KeptServer& server : kept) {
    Server a = before.server(server.before);
    const Server& b = after.server(server.after);
    a.gpus = b.gpus;
    a.gpu_type = b.gpu_type;
    if (server.change.empty() && a != b) return true;
  }
  if (!same_servers) return false;
  const Topology::Parts &a = before.parts(), &b = after.parts();
  if (a.name != b.name || a.nodes != b.nodes || a.links != b.links || a.domains != b.domains ||
      a.subtrees.size() != b.subtrees.size())
    return true;
  for (std::size_t i = 0; i < a.subtrees.size(); ++i) {
    const Subtree &was = a.subtrees[i], &is = b.subtrees[i];
    if (was.level != is.level || was.name != is.name || was.servers != is.servers) return true;
  }
  return false;
}

}  // namespace

Result<TopologyChange> compare(const Topology& before, const Topology& after) {
  const auto was = names_of(before), is = names_of(after);
  if (!was) return was.error();
  if (!is) return is.error();
  std::set<std::string> racks_before;
  for (const Subtree& subtree : before.subtrees()) {
    if (subtree.level == Level::rack) racks_before.insert(subtree.name);
  }
  TopologyChange change;
  for (std::uint32_t s = 0; s < after.server_count(); ++s) {
    const ServerId now{s};
    const auto found = was.value().find(after.server(now).name);
    if (found == was.value().end()) {
      change.added.push_back(now);
      continue;
    }
    const ServerId then{found->second};
    if (!change.kept.empty() && change.kept.back().before.value > then.value) {
      return {Errc::invalid, "server '" + after.server(change.kept.back().after).name +
                                 "' stands before '" + after.server(now).name +
                                 "' now, and behind it until now: servers that stay keep their "
                                 "order; take one of the two away first, and add it again then"};
    }
    change.kept.push_back({then, now, change_of(before, after, then, now, racks_before)});
  }
  for (std::uint32_t s = 0; s < before.server_count(); ++s) {
    if (!is.value().contains(before.server(ServerId{s}).name))
      change.removed.push_back(ServerId{s});
  }
  change.otherwise =
      differs_otherwise(before, after, change.kept, change.added.empty() && change.removed.empty());
  return change;
}

Result<Renumbering> renumbering(const Topology& before, const Topology& after) {
  const auto change = compare(before, after);
  if (!change) return change.error();
  Renumbering numbers;
  numbers.servers.assign(before.server_count(), Renumbering::kGone);
  numbers.gpus.assign(before.gpu_count(), Renumbering::kGone);
  numbers.cleared.assign(before.gpu_count(), true);
  numbers.cleared_servers.assign(before.server_count(), true);
  for (const KeptServer& kept : change.value().kept) {
    const IndexRange was = before.server(kept.before).gpus, is = after.server(kept.after).gpus;
    numbers.servers[kept.before.value] = kept.after.value;
    numbers.cleared_servers[kept.before.value] = !kept.change.empty();
    for (std::uint32_t i = 0; i < was.size(); ++i) {
      if (i < is.size()) numbers.gpus[was.first + i] = is.first + i;
      numbers.cleared[was.first + i] = !kept.change.empty();
    }
  }
  return numbers;
}

}  // namespace starling
