// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sim/run/run_recorder.h"

namespace starling {

/// What can be said of a run of which only the rows of jobs.csv are known, as of a live one: each
/// job on the GPUs of its last attempt from its first start to its end; no messages, no outages.
[[nodiscard]] Recording recording_of(const RunResult& run, const Topology& topology);

}  // namespace starling
