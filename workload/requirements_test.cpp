// SPDX-License-Identifier: Apache-2.0
#include "workload/requirements.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

using namespace starling;

TEST_CASE("a job goes with the types that it names, with any if it names none") {
  GeneratorOptions options;
  options.servers = 1;
  options.gpus_per_server = 2;
  const Topology topology = generate_flat(options).value();
  const GpuTypeId there = topology.server(ServerId{0}).gpu_type;
  const GpuTypeId unknown{static_cast<GpuTypeId::rep>(topology.gpu_types().size())};
  JobSpec job;
  CHECK(allows(job, topology, there));
  CHECK(allows(job, topology, unknown));
  job.gpu_types = {"no such type"};
  CHECK_FALSE(allows(job, topology, there));
  CHECK_FALSE(allows(job, topology, ServerId{0}));
  job.gpu_types.push_back(topology.gpu_types()[there.value].name);
  CHECK(allows(job, topology, there));
  CHECK(allows(job, topology, ServerId{0}));
  CHECK_FALSE(allows(job, topology, unknown));
}

TEST_CASE("what a job needs with each GPU is an equal part of its worker's, rounded down") {
  const auto needs = [](std::uint32_t gpus_per_worker, double cpus, double memory) {
    JobSpec job;
    job.gpus_per_worker = gpus_per_worker;
    job.cpus_per_worker = cpus;
    job.memory_gib_per_worker = memory;
    return demand_of(job);
  };
  CHECK_FALSE(needs(2, 0, 0).any());
  CHECK(needs(2, 3, 5) == Demand{1'500'000, 2'500'000});
  CHECK(needs(3, 64, 0) == Demand{21'333'333, 0});
}
