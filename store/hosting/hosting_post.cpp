// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/hosting_post.h"

#include <utility>

namespace starling {

HostingPost::HostingPost(AgentId me, HostingPlan plan, Hands hands)
    : me_(me), plan_(std::move(plan)), hands_(std::move(hands)) {}

void HostingPost::look(Instant now, const PartitionStanding& standing,
                       const FlockMembers& members) {
  if (over_) {
    hands_.join();
    over_ = false;
    plan_.ended(now, end_);
  }
  if (plan_.serving() && held_) plan_.took();
  const HostingPlan::Step step = plan_.look(now, standing, members);
  if (!step.asks_for_it) request_.reset();
  switch (step.act) {
    case HostingPlan::Act::nothing:
      return;
    case HostingPlan::Act::give_back:
      wanted_by_ = step.to.value;
      wanted_ = true;
      return;
    case HostingPlan::Act::ask:
      return hands_.room() ? ask(standing) : request_.reset();
    case HostingPlan::Act::begin:
      if (!hands_.room()) return request_.reset();
      wanted_ = false;
      held_ = false;
      plan_.began();
      return hands_.begin(standing.current);
  }
}

void HostingPost::ask(const PartitionStanding& standing) {
  const Ownership& current = standing.current;
  hands_.waits("partition " + std::to_string(current.partition.value) + " belongs to agent " +
               std::to_string(current.owner.value) + " at epoch " +
               std::to_string(current.epoch.value) + ", whose lease runs");
  // An earlier life of this host has no thread that could grant it.
  if (current.owner == me_) return;
  if (request_ == nullptr) request_ = hands_.request();
  request_->keep();
}

}  // namespace starling
