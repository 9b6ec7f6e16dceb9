// SPDX-License-Identifier: Apache-2.0
#include "store/await_epoch.h"

#include <thread>

namespace starling {
namespace {

/// What is said of this partition next. Of others, which the same authority may hold, their leases
/// may have lapsed or come back meanwhile.
EpochEvent next_event(EpochAuthority& authority, PartitionId partition) {
  for (;;) {
    for (const EpochEvent& event : authority.poll()) {
      const auto* granted = std::get_if<EpochGranted>(&event);
      const auto* refused = std::get_if<EpochRefused>(&event);
      if (granted != nullptr && granted->mine.partition == partition) return event;
      if (refused != nullptr && refused->current.partition == partition) return event;
    }
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
    const EpochEvent event = next_event(authority, partition);
    if (const auto* granted = std::get_if<EpochGranted>(&event)) return granted->mine;
    const auto& refused = std::get<EpochRefused>(event);
    const bool learned = refused.why.code == Errc::expired && refused.current.epoch != expect;
    if (learned) {
      expect = refused.current.epoch;
      continue;
    }
    if (!again(refused)) return refused.why;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace starling
