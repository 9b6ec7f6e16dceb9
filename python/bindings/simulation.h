// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <functional>

#include "launch/runs/run_options.h"

namespace starling {

/// A run as its keywords ask for it, and the policies that it may have.
struct AskedRun {
  RunOptions options;
  PolicyRegistry policies;
};

/// Reads the keywords of starling.simulate(): policy (text, or an own one: own_policy.h), agents,
/// physics, speed, durations, network, seed, load, servers_per_executor, check. TypeError for any
/// other.
[[nodiscard]] AskedRun asked_run(const pybind11::kwargs& given);

/// For SimOptions::progress, in a call that has released the interpreter: looks for Ctrl-C and
/// throws what Python raises then; `call`, if it is not None, gets (done, total).
[[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> watching(pybind11::object call);

}  // namespace starling
