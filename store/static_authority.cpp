// SPDX-License-Identifier: Apache-2.0
#include "store/static_authority.h"

#include <utility>

namespace starling {

Ownership StaticAuthority::current(PartitionId partition) const {
  const auto it = owners_.find(partition);
  return it == owners_.end() ? Ownership{partition, Epoch{}, AgentId{partition.value}} : it->second;
}

void StaticAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  const Ownership now = current(partition);
  if (me != now.owner) {
    events_.push_back(EpochRefused{now, {Errc::conflict, "the partition is another agent's"}});
  } else if (expect != now.epoch) {
    events_.push_back(
        EpochRefused{now, {Errc::expired, "the epoch is " + std::to_string(now.epoch.value)}});
  } else {
    const Ownership mine{partition, Epoch{1}, me};
    owners_[partition] = mine;
    events_.push_back(EpochGranted{mine});
  }
}

void StaticAuthority::renew(const Ownership& mine) {
  if (const Ownership now = current(mine.partition); now != mine)
    events_.push_back(EpochLost{mine, now});
}

void StaticAuthority::release(const Ownership&) {}

Duration StaticAuthority::holds_for(const Ownership& mine) {
  return current(mine.partition) == mine ? Duration::max() : Duration{0};
}

std::vector<EpochEvent> StaticAuthority::poll() { return std::exchange(events_, {}); }

}  // namespace starling
