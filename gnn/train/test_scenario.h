// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "base/rng.h"
#include "gnn/train/scenario.h"
#include "gnn/train/trainable_system.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"
#include "workload/generate/generate.h"

namespace starling {

/// For tests: 24 GPUs in three racks, 120 jobs of Gavel's types at an offered load of 1.2.
inline Scenario small_scenario(std::uint64_t seed) {
  GeneratorOptions shape;
  shape.servers = 6;
  shape.gpus_per_server = 4;
  Scenario out{.name = "small", .topology = generate("leaf-spine", shape).value(), .trace = {}};
  TraceGeneratorOptions jobs;
  jobs.seed = seed;
  jobs.jobs = 120;
  jobs.cluster_gpus = out.topology.gpu_count();
  jobs.load = 1.2;
  out.trace = generate_trace(jobs).value();
  const auto models = gavel_models();
  for (std::size_t i = 0; i < out.trace.jobs.size(); ++i) {
    JobSpec& spec = out.trace.jobs[i].spec;
    spec.model = models[i % models.size()].name;
    spec.gpus_per_worker = 1;
    spec.workers = std::min(spec.workers, 12U);
  }
  return out;
}

/// Weights that are random everywhere, also where training begins with zeros.
inline Weights shaken(Weights weights) {
  Rng rng(9);
  for (auto& [name, tensor] : weights.tensors)
    for (float& value : tensor.values) value += static_cast<float>(rng.normal() * 0.1);
  return weights;
}

/// The learned system that tests train where any would do.
inline const TrainableSystem& marl() {
  static const TrainableSystem kMarl = trainable_systems().front();
  return kMarl;
}

}  // namespace starling
