// SPDX-License-Identifier: Apache-2.0
#include "launch/client/placeable.h"

#include <doctest/doctest.h>

#include "topology/generate/generate.h"

using namespace starling;

TEST_CASE("a job that can never fit is told why") {
  GeneratorOptions shape;
  shape.groups = {{2, "V100"}, {1, "K80"}};
  shape.gpus_per_server = 8;
  const Topology topology = generate_flat(shape).value();
  JobSpec job;
  job.workers = 3;
  job.gpus_per_worker = 8;
  CHECK(can_ever_fit(topology, job).ok());

  SUBCASE("too many GPUs") {
    job.workers = 4;
    CHECK(can_ever_fit(topology, job).error().message ==
          "it asks for 32 GPUs, the data centre has 24");
  }
  SUBCASE("too many of one type") {
    job.gpu_types = {"V100"};
    CHECK(can_ever_fit(topology, job)
              .error()
              .message.find("24 GPUs of type V100, the data centre has 16") != std::string::npos);
  }
  SUBCASE("types are found however they are spelled") {
    job.gpu_types = {"v100", "k80"};
    CHECK(spell_gpu_types(topology, job).ok());
    CHECK(job.gpu_types == std::vector<std::string>{"V100", "K80"});
    CHECK(unknown_gpu_types(topology, job).empty());
    job.gpu_types = {"H100", "A100"};
    CHECK(spell_gpu_types(topology, job).error().message ==
          "it asks for GPUs of type H100 or A100, the data centre has V100, K80");
  }
  SUBCASE("one of the types that it asks for is enough, the others are told") {
    job.gpu_types = {"v100", "A100"};
    job.workers = 2;
    CHECK(spell_gpu_types(topology, job).ok());
    CHECK(job.gpu_types == std::vector<std::string>{"V100", "A100"});
    CHECK(can_ever_fit(topology, job).ok());
    CHECK(unknown_gpu_types(topology, job) ==
          "it asks for GPUs of type A100, too, of which the data centre has none; it has V100, "
          "K80");
  }
  SUBCASE("a worker larger than any server") {
    job.workers = 1;
    job.gpus_per_worker = 9;
    CHECK(can_ever_fit(topology, job).error().message.find("the largest has 8 GPUs") !=
          std::string::npos);
  }
}
