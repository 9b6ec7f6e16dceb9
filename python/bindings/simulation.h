// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include "launch/runs/run_options.h"

namespace starling {

/// Which policies a run may have, and what else Python gave: `policy` as text, or an own one
/// (python/bindings/own_policy.h).
struct AskedRun {
  RunOptions options;
  PolicyRegistry policies;
};

/// Reads the keywords of starling.simulate(): policy, agents, physics, speed, durations, network,
/// seed, load, servers_per_executor, check. TypeError for any other. `own`: `policy` may be an own
/// one.
[[nodiscard]] AskedRun asked_run(const pybind11::kwargs& given);

/// For SimOptions::progress, in a call that has released the interpreter: looks for Ctrl-C and
/// throws what Python raises then; `call`, if it is not None, gets (done, total).
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> watching(pybind11::object call);

}  // namespace starling
