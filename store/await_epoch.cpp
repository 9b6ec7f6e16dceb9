// SPDX-License-Identifier: Apache-2.0
#include "store/await_epoch.h"

#include <thread>

namespace starling {
namespace {

/// The answer to the one call that is under way.
EpochEvent next_event(EpochAuthority& authority) {
  for (;;) {
    if (auto events = authority.poll(); !events.empty()) return events.front();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace

Result<Ownership> await_epoch(EpochAuthority& authority, PartitionId partition, AgentId me,
                              const std::function<bool(const EpochRefused&)>& again,
                              std::chrono::milliseconds pause) {
  Epoch expect;
  for (;;) {
    authority.acquire(partition, expect, me);
    const EpochEvent event = next_event(authority);
    if (const auto* granted = std::get_if<EpochGranted>(&event)) return granted->mine;
    const auto* refused = std::get_if<EpochRefused>(&event);
    if (refused == nullptr) continue;
    const bool learned = refused->why.code == Errc::expired && refused->current.epoch != expect;
    if (learned) {
      expect = refused->current.epoch;
      continue;
    }
    if (!again(*refused)) return refused->why;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace starling
