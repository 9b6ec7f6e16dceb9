// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "agents/message.h"
#include "workload/queue_tree.h"

namespace starling {

/// A row for each queue, below the one above it and set in, and for each user of leaves that limit
/// users: GPUs that it is guaranteed, may have at the utmost and may have now, uses, and wants for
/// jobs that are kept back. Then a line of agents that do not go by these queues yet, if any.
[[nodiscard]] std::string queues_table(const QueuesState& state);

/// As a file of queues has them (workload/queue_file.h), with whole paths.
[[nodiscard]] nlohmann::json queue_tree_json(const QueueTree& tree);
/// `version`, `tree`, `uses` and `unaware`, everywhere the same.
[[nodiscard]] nlohmann::json queues_json(const QueuesState& state);

/// What is otherwise in `after`, a line each: queues that are added or removed, limits from..to.
/// Empty: nothing.
[[nodiscard]] std::vector<std::string> queue_changes(const QueueTree& before,
                                                     const QueueTree& after);

/// A line where more is guaranteed than the `gpus` that there are, else nothing.
[[nodiscard]] std::string guarantees_beyond(const QueueTree& tree, std::uint64_t gpus);

}  // namespace starling
