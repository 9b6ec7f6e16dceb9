// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "workload/queue_tree.h"

namespace starling {

/// Reads a file of queues, in YAML or JSON:
///
///   default: research/misc        # leaf of jobs that name no queue; without it these are refused
///   queues:
///     - name: research            # may be a whole path, as research/vision
///       guaranteed: 32            # GPUs it gets before others get more than theirs; 0
///       most: 64                  # GPUs at the utmost, with all queues below; no limit
///       weight: 2                 # share of what is lent beyond guarantees; 1
///       users: [ada, bob]         # who may submit there and below; whoever may above it
///       queues:                   # below it; names are relative to where they stand
///         - {name: vision, most_per_user: 8}    # GPUs of one user at the utmost, of leaves
///         - {name: misc}
///
/// Of a queue only its name has to be there; `queues: []` are no queues, which limit nothing. The
/// tree has passed check_queues(); its version is 0. `invalid` names file:line:column, what is
/// wrong and what would be right; `io` if the file cannot be read.
[[nodiscard]] Result<QueueTree> read_queue_file(const std::filesystem::path& file);
/// The same of a text; `name` is what messages call it.
[[nodiscard]] Result<QueueTree> parse_queue_file(const std::string& name, const std::string& text);

/// The tree as such a file, with whole paths: reading it gives the same tree, but for the version.
[[nodiscard]] std::string queue_file_text(const QueueTree& tree);

}  // namespace starling
