// SPDX-License-Identifier: Apache-2.0
// Servers that come, leave and get other GPUs while everything else goes wrong: F32.
#include <algorithm>
#include <utility>

#include "sim/chaos/chaos_faults.h"

namespace starling {
namespace {

constexpr int kTries = 40;
constexpr Duration kTryEvery = std::chrono::seconds(5);
constexpr std::uint32_t kMostServers = 4;  // of an executor

std::vector<IndexRange> ranges_of(const World& world) {
  std::vector<IndexRange> ranges;
  for (std::uint32_t e = 0; e < world.executors(); ++e) ranges.push_back(world.servers_of(e));
  return ranges;
}

}  // namespace

/// An operator prepares one change at a time: what leaves or changes is drained, and the flock is
/// asked again and again whether anything still uses it.
void ChaosFaults::change_servers(World& world, Rng& rng, Dose) {
  if (changing_servers_) return;
  ServerChange change;
  for (std::uint32_t n = 1 + rng.below(2); n > 0; --n) draw_change(world, rng, change);
  if (change.empty()) return;
  // Every partition keeps an executor that is there.
  const NextServers next = next_servers(world.topology(), ranges_of(world), change);
  for (std::uint32_t a = 0; a < agents_; ++a) {
    bool has = false;
    for (std::uint32_t e = a * executors_each_; e < (a + 1) * executors_each_; ++e)
      has = has || (!world.retired(e) && next.executors[e].size() > 0);
    if (!has) return;
  }
  changing_servers_ = true;
  drain_all(world, change, true);
  try_change(world, change, kTries);
}

/// A server has no number of GPUs twice, and no name is used again: what two changes in a row make
/// of a number is what one makes of it.
void ChaosFaults::draw_change(World& world, Rng& rng, ServerChange& change) {
  const std::uint32_t executor = rng.below(world.executors());
  const IndexRange servers = world.servers_of(executor);
  const std::uint32_t what = rng.below(3);
  if (world.retired(executor) || servers.size() == 0) return;
  const Server& server =
      world.topology().server(ServerId{servers.first + rng.below(servers.size())});
  std::set<std::uint32_t>& had = had_[server.name];
  had.insert(server.gpus.size());
  const std::uint32_t gpus = 1 + rng.below(8);
  if (what == 0) {
    if (servers.size() >= kMostServers) return;
    change.come.push_back({"new-" + std::to_string(named_++), executor, rng.chance(0.5), gpus});
  } else if (what == 1) {
    change.leave.insert(server.name);
    change.gpus.erase(server.name);
  } else if (!change.leave.contains(server.name) && had.insert(gpus).second) {
    change.gpus[server.name] = gpus;
  }
}

void ChaosFaults::drain_all(World& world, const ServerChange& change, bool drained) {
  for (std::uint32_t s = 0; s < world.topology().server_count(); ++s) {
    const std::string& name = world.topology().server(ServerId{s}).name;
    if (!change.leave.contains(name) && !change.gpus.contains(name)) continue;
    drained_.insert(ServerId{s});
    world.drain(ServerId{s}, drained, true);
  }
}

/// Not while a rack is cut off: the one that asks has to reach all of them.
void ChaosFaults::try_change(World& world, const ServerChange& change, int tries) {
  if (healed_) return;
  if (racks_cut_.empty()) {
    const NextServers next = next_servers(world.topology(), ranges_of(world), change);
    const auto numbers = world.change_servers(next.topology, next.executors);
    if (numbers.ok()) return servers_are_others(world, numbers.value());
    ++counts_["F32-servers: still in use"];
  }
  if (tries == 0) {
    ++counts_["F32-servers: given up"];
    drain_all(world, change, false);
    changing_servers_ = false;
    return;
  }
  if (tries % 4 == 0) drain_all(world, change, true);  // the word may have been lost
  world.at(world.now() + kTryEvery,
           [this, change, tries](World& w) { try_change(w, change, tries - 1); });
}

/// All daemons have ended; each is started again when its turn comes.
void ChaosFaults::servers_are_others(World& world, const Renumbering& numbers) {
  ++counts_["F32-servers: changed"];
  ++new_servers_;
  changing_servers_ = false;
  const auto moved = [](auto& ids, const std::vector<std::uint32_t>& to) {
    using Ids = std::remove_reference_t<decltype(ids)>;
    Ids now;
    for (const auto id : ids) {
      if (id.value < to.size() && to[id.value] != Renumbering::kGone)
        now.insert(typename Ids::value_type{to[id.value]});
    }
    ids = std::move(now);
  };
  moved(drained_, numbers.servers);
  moved(servers_gone_, numbers.servers);
  moved(bad_gpus_, numbers.gpus);
  // Servers that came to a machine that is gone are as gone as the others.
  const std::vector<IndexRange> ranges = ranges_of(world);
  for (std::uint32_t e = 0; e < ranges.size(); ++e) {
    if (!world.retired(e)) continue;
    for (std::uint32_t s = ranges[e].first; s < ranges[e].last; ++s)
      servers_gone_.insert(ServerId{s});
  }
  Rng& rng = state("F32-servers").rng;
  for (const NodeId node : nodes_) {
    if (is_client(node)) continue;
    if (!is_agent(node) && world.retired(executor_of(node))) {
      down_.erase(node);
      continue;
    }
    if (!went_down(node)) continue;  // it has been down, and comes back when it would have
    bring_back_in(world, node, from_seconds(rng.chance(0.7) ? 0 : 20 * rng.uniform()));
  }
}

}  // namespace starling
