// SPDX-License-Identifier: Apache-2.0
// What users do in a world: they submit, cancel, ask, die and come back.
#include <utility>

#include "base/check.h"
#include "bus/wire/places.h"
#include "sim/world/world_parts.h"

namespace starling {

void World::submit(JobSpec spec, AgentId home, Duration alone) {
  JobTruth truth;
  truth.id = spec.id;
  truth.duration = alone;
  truth.gpus = spec.gpus();
  parts_->hardware->add_job(truth);
  const Instant due = parts_->nodes[parts_->client_index(0)]->clock.at(now());
  parts_->users->wants(0, due, std::move(spec), home);
  parts_->reschedule(parts_->client_index(0));
}

bool World::cancel(JobId job) {
  const std::optional<std::uint32_t> place = parts_->users->cancel(job);
  if (place) parts_->reschedule(parts_->client_index(*place));
  return place.has_value();
}

void World::ask(AgentId agent, Message question, std::uint32_t place) {
  Client* const client = parts_->users->client(place);
  if (client == nullptr) return;
  client->ask(agent, std::move(question));
  parts_->reschedule(parts_->client_index(place));
}

void World::crash_client(std::uint32_t place) {
  parts_->users->dies(place);
  parts_->crash(parts_->client_index(place));
}

void World::renew_client(std::uint32_t place, bool session,
                         const std::function<bool(JobId)>& takes_up) {
  Parts& p = *parts_;
  const std::size_t index = p.client_index(place);
  SimNode& node = *p.nodes[index];
  STARLING_CHECK(node.running == nullptr);
  if (session) {
    node.id = session_node(starling::place_of(node.id), session_of(node.id) + 1);
    node.endpoint.rename(node.id);
  }
  p.users->born_again(place, p.start_client(place), node.clock.at(now()), takes_up);
  p.reschedule(index);
}

bool World::client_lives(std::uint32_t place) const {
  return parts_->users->client(place) != nullptr;
}

}  // namespace starling
