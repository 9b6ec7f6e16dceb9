// SPDX-License-Identifier: Apache-2.0
#include "agents/step/state.h"

#include <algorithm>

#include "base/check.h"

namespace starling {

AgentState::AgentState(AgentConfig agent_config, const Topology& data_center,
                       const SpeedModel& speed_model, std::shared_ptr<Policy> chosen_policy,
                       Rng agent_rng, std::uint32_t room)
    : config(std::move(agent_config)),
      topology(data_center),
      speed(speed_model),
      policy(std::move(chosen_policy)),
      rng(agent_rng.fork(1)),
      policy_rng(agent_rng.fork(2)),
      supply(topology.gpu_types().size()),
      home(policy->facts(), config.incarnation),
      owner(config, topology, room),
      flock(config) {
  if (config.me == AgentId{0}) keeper.emplace(config.flock.size(), topology.gpu_count());
  for (const Server& server : topology.servers()) {
    if (server.gpus.size() == 0) continue;
    Supply& of_type = supply[server.gpu_type.value];
    of_type.gpus += server.gpus.size();
    of_type.largest_server = std::max(of_type.largest_server, server.gpus.size());
  }
}

bool AgentState::calling_roll() const noexcept {
  return roll_call > now &&
         !(owner.all_answered() &&
           std::all_of(flock.peers.begin(), flock.peers.end(), [&](const PeerState& peer) {
             return peer.answered || peer.peer.agent == config.me;
           }));
}

}  // namespace starling
