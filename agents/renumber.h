// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "agents/record.h"
#include "base/result.h"
#include "topology/compare.h"

namespace starling {

/// A snapshot (of an Agent or an Executor) whose servers and GPUs have got other numbers. What is
/// over forgets GPUs that are not there any more; drains of servers that come back changed have
/// done their work and end. `busy`: an attempt that is not over uses a server that leaves or
/// changes; the message names it. `before` is what the snapshot was taken with.
[[nodiscard]] Result<std::vector<Record>> renumbered(std::vector<Record> snapshot,
                                                     const Renumbering& numbers,
                                                     const Topology& before);

/// In whose numbers a journal speaks, by its last TopologyRead; 0: it does not say.
[[nodiscard]] std::uint64_t topology_read(std::span<const Record> recovered);
/// The newest life that the journal has, and the newest epoch.
[[nodiscard]] LifeBegan last_life(std::span<const Record> recovered);

/// All that a journal has to say once its numbers are those of the topology called `fingerprint`:
/// `snapshot`, of the core that `recovered` made, and what `recovered` knows of peers. `busy` as
/// above.
[[nodiscard]] Result<std::vector<Record>> renumbered_journal(std::vector<Record> snapshot,
                                                             std::span<const Record> recovered,
                                                             const Renumbering& numbers,
                                                             const Topology& before,
                                                             std::uint64_t fingerprint);

/// Puts `records`, which are renumbered, in the journal's place, and its archive in the same
/// numbers: as new chunks, which the records name then. Whatever ends it in between, the journal is
/// in the old numbers or in the new ones, whole. `progress` is called before each chunk.
[[nodiscard]] Status replace_renumbered(
    Journal& journal, std::vector<Record>& records, const Renumbering& numbers,
    const Topology& before, const std::function<void()>& progress = [] {});

}  // namespace starling
