// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <vector>

#include "policies/testing/policy_rig.h"
#include "topology/generate/generate.h"

namespace starling {

inline constexpr const char* kBenchModels[] = {"resnet18",  "resnet50", "vgg16",
                                               "bert-base", "lstm-lm",  "a3c"};

/// Servers of eight GPUs of three types, half of the GPUs of one.
inline Topology three_types(std::uint32_t gpus) {
  GeneratorOptions options;
  options.groups = {{gpus / 16, "V100"}, {gpus / 32, "P100"}, {gpus / 32, "K80"}};
  return generate_flat(options).value();
}

/// CPU time of this program so far.
inline double cpu_ms() { return 1e3 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// So many jobs end and as many come, which `make` makes.
template <typename Make>
void change_jobs(PolicyRig& rig, std::size_t count, Rng& rng, const Make& make) {
  for (std::size_t i = 0; i < count; ++i) {
    rig.end(rng.below(static_cast<std::uint32_t>(rig.jobs.size())));
    rig.submit(make(rng));
  }
}

/// What the policy decides, which the rig then does. `longest` grows to the CPU time of deciding;
/// where there is a `state`, whose timing is paused, that is what it times.
inline void timed_decision(PolicyRig& rig, TriggerKind kind, double& longest,
                           benchmark::State* state = nullptr) {
  const double began = cpu_ms();
  if (state != nullptr) state->ResumeTiming();
  const std::vector<Decision> made = rig.decide(kind);
  if (state != nullptr) state->PauseTiming();
  longest = std::max(longest, cpu_ms() - began);
  for (const Decision& decision : made) rig.apply(decision);
}

}  // namespace starling
