// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "sim/check/durable.h"

namespace starling {

/// By the journals of all agents: the queue of a job that has just started, one above it, or its
/// user in it, that has more GPUs in use than any of the trees allows that agents go by, in words;
/// empty: none. In use are the GPUs of all attempts that have started and are not over, drained
/// ones too. An agent without a tree, or with one that does not have the queue, limits nothing. The
/// checker's own count: portions have no part in it.
[[nodiscard]] std::string beyond_queues(std::span<const Durable* const> agents,
                                        const JobSpec& started);

}  // namespace starling
