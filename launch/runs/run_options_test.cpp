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

TEST_CASE("jobs of a trace that can never fit are told") {
  GeneratorOptions shape;
  shape.groups = {{2, "V100"}, {1, "K80"}};
  shape.gpus_per_server = 8;
  const Topology topology = generate_flat(shape).value();
  JobSpec job;
  job.workers = 3;
  job.gpus_per_worker = 8;

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
  SUBCASE("so are those that the queues refuse") {
    Trace trace;
    trace.jobs.assign(3, {Duration{0}, job});
    QueueTree queues;
    queues.queues.resize(1);
    queues.queues[0].name = "a";
    trace.jobs[0].spec.queue = "a";
    trace.jobs[1].spec.queue = trace.jobs[2].spec.queue = "vc1";
    trace.jobs[1].spec.name = "foreign";
    CHECK(misfits(topology, trace, queues) ==
          "2 of 3 jobs can never run here and will fail; the first is job foreign: there is no "
          "queue 'vc1'; one of these is right: a");
    CHECK(misfits(topology, trace).empty());
  }
  SUBCASE("a gang of one worker is spread in a run, if no server is large enough") {
    Trace trace;
    trace.jobs.assign(1, {Duration{0}, job});
    trace.jobs[0].spec.workers = 1;
    trace.jobs[0].spec.gpus_per_worker = 12;
    CHECK(misfits(topology, trace).empty());
    trace.jobs[0].spec.gpus_per_worker = 25;
    CHECK(misfits(topology, trace).find("1 of 1 job can never run here") == 0);
  }
}
