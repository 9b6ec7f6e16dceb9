// SPDX-License-Identifier: Apache-2.0
#include "sim/run/run_recorder.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "policies/registry.h"
#include "sim/chaos/chaos.h"
#include "sim/simulate.h"
#include "topology/generate/generate.h"
#include "topology/placement_text.h"
#include "workload/generate/generate.h"

using namespace starling;

namespace {

Topology small_cluster() {
  GeneratorOptions options;
  options.servers = 8;
  return generate_leaf_spine(options).value();
}

Trace some_jobs(std::uint32_t jobs, std::uint32_t gpus) {
  TraceGeneratorOptions options;
  options.jobs = jobs;
  options.cluster_gpus = gpus;
  options.load = 1.2;
  options.max_duration_s = 7200;
  return generate_trace(options).value();
}

Instant at_s(double s) { return Instant(from_seconds(s)); }

}  // namespace

TEST_CASE("a recorded run is the run that it would have been, and its record is that run") {
  const Topology topology = small_cluster();
  const Trace trace = some_jobs(150, topology.gpu_count());
  for (const char* policy : {"fifo", "srtf"}) {
    CAPTURE(policy);
    SimOptions options;
    options.policy = policy;
    options.agents = 4;
    const auto alone = simulate(topology, trace, make_policy_registry(), options);
    RunRecorder recorder;
    options.recorder = &recorder;
    const auto watched = simulate(topology, trace, make_policy_registry(), options);
    REQUIRE(alone.ok());
    REQUIRE(watched.ok());
    CHECK(watched.value().trace_hash == alone.value().trace_hash);

    REQUIRE(recorder.recording().has_value());
    const Recording& record = *recorder.recording();
    CHECK(record.agents.size() == 4);
    REQUIRE(record.jobs.size() == trace.jobs.size());
    std::map<std::uint32_t, std::uint32_t> attempts;
    std::map<std::uint32_t, double> ends;
    for (const Recording::Share& share : record.shares) {
      CHECK(share.until_s >= share.from_s);
      attempts[share.job] = std::max(attempts[share.job], share.attempt + 1);
      ends[share.job] = std::max(ends[share.job], share.until_s);
    }
    std::map<std::string, const JobRow*> rows;
    for (const JobRow& row : watched.value().jobs) rows[row.name] = &row;
    for (std::uint32_t j = 0; j < record.jobs.size(); ++j) {
      const JobRow& row = *rows.at(record.jobs[j].name);
      CHECK(attempts[j] == row.attempts);
      CHECK(ends[j] == doctest::Approx(row.finish_s));
      CHECK(record.jobs[j].submit_s == row.submit_s);
    }
    CHECK(record.end_s >= watched.value().jobs.back().finish_s);
    CHECK_FALSE(record.frames.empty());
    CHECK(record.outages.empty());
  }
}

TEST_CASE("what policies say and how links are loaded changes no run, and is in the record") {
  const Topology topology = small_cluster();
  const Trace trace = some_jobs(200, topology.gpu_count());
  SimOptions options;
  options.policy = "lif:threshold=0.3";
  options.agents = 2;
  options.physics = PhysicsKind::full;
  options.links = NetworkKind::flows;
  GeneratorOptions shape;
  shape.servers = 8;
  shape.servers_per_rack = 2;
  const Topology racks = generate_leaf_spine(shape).value();
  const auto alone = simulate(racks, trace, make_policy_registry(), options);
  RunRecorder recorder;
  options.recorder = &recorder;
  const auto watched = simulate(racks, trace, make_policy_registry(), options);
  REQUIRE(alone.ok());
  REQUIRE(watched.ok());
  CHECK(watched.value().trace_hash == alone.value().trace_hash);
  const Recording& record = *recorder.recording();
  std::map<std::uint32_t, std::vector<std::string>> said;
  for (const Recording::Why& why : record.whys) {
    CHECK(why.job < record.jobs.size());
    CHECK(why.lines != said[why.job]);
    said[why.job] = why.lines;
  }
  CHECK(said.size() == trace.jobs.size());
  CHECK(record.whys_left_out == 0);
  REQUIRE_FALSE(record.loads.empty());
  std::map<std::uint32_t, std::uint32_t> now;
  for (std::size_t i = 0; i < record.loads.size(); ++i) {
    CHECK(record.loads[i].link < 2 * racks.network_links().size());
    CHECK(record.loads[i].percent <= 100);
    if (i > 0) CHECK(record.loads[i - 1].at_s <= record.loads[i].at_s);
    now[record.loads[i].link] = record.loads[i].percent;
  }
  for (const auto& [link, percent] : now) CHECK(percent == 0);  // all jobs are over
}

TEST_CASE("what is said and loads of links do not grow beyond their bounds") {
  RunRecorder recorder;
  recorder.begins(small_cluster(), {}, {});
  const std::string word(1000, 'x');
  for (std::uint32_t i = 0; i < 6000; ++i)
    recorder.why(at_s(i), JobId{1, i % 7}, {word + std::to_string(i)});
  const Recording& record = *recorder.recording();
  CHECK(record.whys.size() + record.whys_left_out == 6000);
  CHECK(record.whys.size() * 1000 < RunRecorder::kWhyBytes);
  CHECK(record.whys_left_out > 0);
  std::vector<double> parts(20);
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    for (std::uint32_t link = 0; link < 20; ++link) parts[link] = (i + link) % 50 / 100.0;
    recorder.link_loads(at_s(0.1 * i), parts);
  }
  CHECK(record.loads.size() <= RunRecorder::kLoadsMax);
  CHECK(record.loads.size() > RunRecorder::kLoadsMax / 8);
  CHECK(record.loads_each_s > 0);
  for (std::uint32_t link = 0; link < 20; ++link) {
    std::uint32_t last = 0;
    for (const Recording::LinkLoad& load : record.loads)
      if (load.link == link) last = load.percent;
    CHECK(last == (9999 + link) % 50);
  }
}

TEST_CASE("no two attempts of a record have one GPU at a time, where policies share none") {
  const Topology topology = small_cluster();
  RunRecorder recorder;
  SimOptions options;
  options.recorder = &recorder;
  options.agents = 2;
  REQUIRE(simulate(topology, some_jobs(100, topology.gpu_count()), make_policy_registry(), options)
              .ok());
  std::map<GpuId, std::vector<std::pair<double, double>>> of;
  for (const Recording::Share& share : recorder.recording()->shares) {
    for (const GpuId gpu : share.gpus) of[gpu].emplace_back(share.from_s, share.until_s);
  }
  for (auto& [gpu, spans] : of) {
    std::sort(spans.begin(), spans.end());
    for (std::size_t i = 1; i < spans.size(); ++i) CHECK(spans[i - 1].second <= spans[i].first);
  }
}

TEST_CASE("frames beyond the bound are counted in longer intervals, and none is lost") {
  RunRecorder recorder;
  recorder.begins(small_cluster(), {}, {});
  constexpr std::uint32_t kFrames = 300'000;
  for (std::uint32_t i = 0; i < kFrames; ++i)
    recorder.frame(at_s(0.01 * i), i % 4, (i + 1) % 4, i % 3);
  const Recording& record = *recorder.recording();
  CHECK(record.frames.size() <= RunRecorder::kFramesMax);
  CHECK(record.frames.size() > RunRecorder::kFramesMax / 8);
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < record.frames.size(); ++i) {
    all += record.frames[i].count;
    if (i > 0) CHECK(record.frames[i - 1].at_s <= record.frames[i].at_s);
  }
  CHECK(all == kFrames);
}

TEST_CASE("more pairs of agents than entries do not grow beyond the bound") {
  RunRecorder recorder;
  recorder.begins(small_cluster(), {}, {});
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t pair = 0; pair < 200U * 200U; ++pair)
      recorder.frame(at_s(round), pair / 200, pair % 200, 0);
  }
  const Recording& record = *recorder.recording();
  CHECK(record.frames.size() <= RunRecorder::kFramesMax);
  CHECK(record.frames.front().count == 3);
}

TEST_CASE("a seed of chaos leaves its faults and outages, and is the same seed") {
  ChaosOptions options;
  options.only = {"F1-agent", "F1-executor", "F20-gpu"};
  options.faults_last = std::chrono::minutes(5);
  options.twice_every = 0;
  const ChaosRun alone = run_chaos_seed(7, make_policy_registry(), options).value();
  RunRecorder recorder;
  options.recorder = &recorder;
  const ChaosRun watched = run_chaos_seed(7, make_policy_registry(), options).value();
  CHECK(watched.trace_hash == alone.trace_hash);
  const Recording& record = *recorder.recording();
  CHECK_FALSE(record.outages.empty());
  CHECK_FALSE(record.notes.empty());
  CHECK(record.jobs.size() >= watched.jobs);
  CHECK(record.end_s == doctest::Approx(watched.simulated_s));
  for (const Recording::Outage& outage : record.outages) {
    CHECK(outage.number < (outage.agent ? record.agents : record.executors).size());
    CHECK(outage.until_s >= outage.from_s);
  }
}

TEST_CASE("GPUs keep the numbers that they had when the recording began") {
  RunRecorder recorder;
  recorder.begins(small_cluster(), {}, {});
  const AttemptId first{JobId{1, 1}, Epoch{1}, 1}, second{JobId{1, 2}, Epoch{1}, 1};
  recorder.starts(at_s(1), first, {GpuId{9}});
  Renumbering numbers;  // the first server of eight GPUs leaves
  for (std::uint32_t gpu = 0; gpu < 64; ++gpu)
    numbers.gpus.push_back(gpu < 8 ? Renumbering::kGone : gpu - 8);
  recorder.renumber(at_s(2), numbers);
  recorder.ends(at_s(3), first, {GpuId{1}}, false);
  recorder.starts(at_s(4), second, {GpuId{0}});
  const Recording& record = *recorder.recording();
  REQUIRE(record.shares.size() == 2);
  CHECK(record.shares[0].until_s == 3);
  CHECK(record.shares[1].gpus == Placement{GpuId{8}});
  CHECK(record.notes.front().what == "servers changed");
}
