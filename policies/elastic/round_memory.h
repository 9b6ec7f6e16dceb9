// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "policies/elastic/elastic_progress.h"
#include "policies/queues/rounds.h"
#include "scheduling/policy_memory.h"

namespace starling {

/// Policy::save() of one with rounds that keeps account of its jobs' work: when the round began,
/// how much is done of each job as far as there is room, and `more` after it.
[[nodiscard]] inline std::vector<std::byte> save_rounds(const Rounds& rounds,
                                                        const ElasticProgress& progress,
                                                        Instant origin,
                                                        const std::vector<std::byte>& more) {
  MemoryWriter out;
  rounds.save(out, origin);
  const std::size_t used = out.bytes().size() + more.size();
  progress.save(out, origin, kMostPolicyMemory - std::min(used, kMostPolicyMemory));
  std::vector<std::byte> all = out.take();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// Policy::restore() of that; `read_more` reads what follows, if all before it was right.
template <class ReadMore>
[[nodiscard]] Status restore_rounds(std::span<const std::byte> memory, Instant origin,
                                    Rounds& rounds, ElasticProgress& progress, ReadMore read_more) {
  MemoryReader in(memory);
  const auto began = Rounds::read_began(in, origin);
  ElasticProgress read;
  read.restore(in, origin);
  if (in.ok()) read_more(in);
  if (!in.whole()) return {Errc::invalid, "it is no account of rounds and jobs"};
  rounds.resume(began);
  progress = std::move(read);
  return done();
}

}  // namespace starling
