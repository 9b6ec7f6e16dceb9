// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "policies/elastic/division.h"

namespace starling {

// What divisions say that first give every job its fewest workers, by priority and submission.

/// Of a job that waits: what it needs at least, and what those need that a round serves before it.
[[nodiscard]] std::string explain_fewest(const ElasticCall& call, const ElasticCapacity& all,
                                         const ElasticShare& share);
/// "2 workers on 8 GPUs".
[[nodiscard]] std::string workers_text(const JobSpec& job, std::uint32_t workers);
/// A dominant_share() as a part of the partition.
[[nodiscard]] std::string share_text(std::int64_t share);

}  // namespace starling
