// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/run_options.h"

#include <doctest/doctest.h>

#include <chrono>

#include "topology/generate/generate.h"

using namespace starling;
using namespace std::chrono_literals;

TEST_CASE("lengths of time") {
  CHECK(parse_duration("90").value() == 90s);
  CHECK(parse_duration("15m").value() == 15min);
  CHECK(parse_duration("7d").value() == 7 * 24h);
  CHECK(parse_duration("0.5h").value() == 30min);
  for (const char* wrong : {"", "d", "-1", "1w", "1h30"}) CHECK_FALSE(parse_duration(wrong));
}

TEST_CASE("what a policy may know about durations") {
  CHECK(parse_durations("exact").value().kind == DurationKnowledge::exact);
  CHECK(parse_durations("none").value().kind == DurationKnowledge::none);
  CHECK(parse_durations("noisy:0.5").value().sigma == 0.5);
  for (const char* wrong : {"", "some", "noisy", "noisy:", "noisy:-1", "noisy:x"})
    CHECK_FALSE(parse_durations(wrong));
}

TEST_CASE("a job that can never fit is told why") {
  GeneratorOptions shape;
  shape.groups = {{2, "V100"}, {1, "K80"}};
  shape.gpus_per_server = 8;
  const Topology topology = generate_flat(shape).value();
  JobSpec job;
  job.workers = 3;
  job.gpus_per_worker = 8;
  CHECK(can_ever_fit(topology, job).ok());

  SUBCASE("jobs of a trace are counted, and the first is named") {
    Trace trace;
    trace.jobs.assign(3, {Duration{0}, job});
    CHECK(misfits(topology, trace).empty());
    trace.jobs[1].spec.workers = trace.jobs[2].spec.workers = 4;
    trace.jobs[1].spec.name = "wide";
    CHECK(misfits(topology, trace) ==
          "2 of 3 jobs can never run here and will fail; the first is job wide: it asks for 32 "
          "GPUs, the data centre has 24");
  }
  SUBCASE("a gang of one worker is spread in a run, if no server is large enough") {
    Trace trace;
    trace.jobs.assign(1, {Duration{0}, job});
    trace.jobs[0].spec.workers = 1;
    trace.jobs[0].spec.gpus_per_worker = 12;
    CHECK(misfits(topology, trace).empty());
    trace.jobs[0].spec.gpus_per_worker = 25;
    CHECK(misfits(topology, trace).find("1 of 1 jobs can never run here") == 0);
  }
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
    job.gpu_types = {"H100"};
    CHECK(spell_gpu_types(topology, job).error().message ==
          "it asks for GPUs of type H100, the data centre has V100, K80");
  }
  SUBCASE("a worker larger than any server") {
    job.workers = 1;
    job.gpus_per_worker = 9;
    CHECK(can_ever_fit(topology, job).error().message.find("the largest has 8 GPUs") !=
          std::string::npos);
  }
}
