// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "launch/embed/starling.h"
#include "launch/runs/run_options.h"
#include "sim/run/run_result.h"
#include "topology/topology.h"
#include "workload/job.h"

// What the pointers of starling.h point to.
struct starling_topology {
  starling::Topology topology;
};
struct starling_workload {
  starling::Trace trace;
};
struct starling_options {
  starling::RunOptions run;
  std::optional<starling_policy> own;  ///< in the place of run.policy
  starling_progress progress = nullptr;
  void* context = nullptr;
};
struct starling_run {
  starling::RunResult result;
  std::string json;  ///< made when it is asked for
};

namespace starling {

/// What starling_error() says from here on in this thread.
void say_wrong(const std::string& message) noexcept;

/// `call`, and where it throws, `wrong` and what it threw as the error.
template <class Call, class Value>
Value guarded_call(Value wrong, Call call) noexcept {
  try {
    return call();
  } catch (const std::exception& error) {
    say_wrong(error.what());
  } catch (...) {
    say_wrong("something was thrown that says nothing");
  }
  return wrong;
}

/// -1, and `what` as the error.
inline int wrong_call(const std::string& what) {
  say_wrong(what);
  return -1;
}

/// A policy that calls the C function, for every agent.
[[nodiscard]] PolicyRegistry with_own_policy(PolicyRegistry policies, const starling_policy& own);
constexpr const char* kOwnPolicy = "own";

}  // namespace starling
