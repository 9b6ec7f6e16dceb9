// SPDX-License-Identifier: Apache-2.0
// For tests of jobs of other sizes than they ask for.
#pragma once

#include <cstdint>
#include <string>

#include "interference/profile.h"
#include "topology/generate/generate.h"

namespace starling {

/// Eight servers of two GPUs each, on a slow network.
inline Topology slow_cluster() {
  GeneratorOptions options;
  options.servers = 8;
  options.gpus_per_server = 2;
  options.gpus_per_island = 2;
  options.nic_gbps = 1;
  return generate_flat(options).value();
}

/// A job that asks for `asked` GPUs and has `gpus`.
inline JobProfile sized(const std::string& model, std::uint32_t asked, std::uint32_t gpus) {
  JobSpec spec;
  spec.model = model;
  spec.workers = asked;
  return profile_of(spec, gpus);
}

}  // namespace starling
