// SPDX-License-Identifier: Apache-2.0
// Servers that cost something: what published measurements say of how many pay, in order.
#include "interference/parameter_servers.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "interference/models.h"
#include "interference/pace/pace.h"
#include "interference/profile.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

/// 10 GB/s within a server, and as much between them: links are no matter.
constexpr SyncPath kFast{10e9, 10e9, Tier::rack};

ModelProfile resnet50(std::uint16_t layers) {
  ModelProfile model = model_profile("resnet50");
  model.layers = layers;
  return model;
}

TEST_CASE("Optimus' constants of ResNet-50: the fall with servers is the one of its theta") {
  // theta_1 + theta_2 w/p is what a step takes beside its samples: T(w, p) - T(w, 2p) goes with
  // w/p.
  const ModelProfile model = resnet50(1);
  const auto at = [&](double w, double p) {
    return served_s(model, 0, {w, p, 1, 2}, {1e15, 1e15, Tier::island});
  };
  const double one = at(8, 4) - at(8, 8);
  CHECK(at(16, 8) - at(16, 16) == doctest::Approx(one).epsilon(1e-3));
  CHECK(at(8, 2) - at(8, 4) == doctest::Approx(2 * one).epsilon(1e-3));
  // 2S / (2 CPUs x 100 MB/s) for each w/p: about a second of ResNet-50 on two CPUs, of which
  // Optimus has 4.92 in units of its own and DL2 1.6 (2S/a of 129 MB/s).
  CHECK(one / (8.0 / 4 - 8.0 / 8) ==
        doctest::Approx(2 * model.gradient_mib * 1048576 / 200e6).epsilon(1e-3));
}

TEST_CASE("DL2's best measured configurations have many servers and few workers, in this order") {
  // resnet-50 20 servers + 2 workers 4.3 x over 1 + 1, vgg-16 14 + 1 3.0 x: one batch a worker
  // each.
  const auto gain = [](const char* name, double p, double w) {
    const ModelProfile& model = model_profile(name);
    const auto speed = [&](double servers, double workers) {
      return workers / served_s(model, model.iteration_s, {workers, servers, 1, 2}, kFast);
    };
    return speed(p, w) / speed(1, 1);
  };
  for (const char* name : {"resnet50", "vgg16"}) {
    CAPTURE(name);
    CHECK(gain(name, 20, 2) > gain(name, 2, 2));
    CHECK(gain(name, 14, 1) > gain(name, 1, 1));
    CHECK(gain(name, 20, 2) > gain(name, 11, 11) / 11 * 2);  // more of each worker
    // Of 22 tasks most are servers.
    double best = 0, at = 0;
    for (double p = 1; p < 22; ++p) {
      if (gain(name, p, 22 - p) <= best) continue;
      best = gain(name, p, 22 - p);
      at = p;
    }
    CHECK(at > 11);
  }
  CHECK(gain("resnet50", 20, 2) > 3);
}

TEST_CASE("layers overlap: never slower than the sum, never faster than either") {
  const ServerSpread spread{4, 4, 2, 2};
  const auto with = [&](std::uint16_t layers) {
    return served_s(resnet50(layers), 0.3, spread, kFast);
  };
  const double alone = served_s(resnet50(1), 0, spread, kFast);
  CHECK(with(1) == doctest::Approx(0.3 + alone));
  double last = with(1);
  for (const int count : {2, 4, 16, 50}) {
    const auto layers = static_cast<std::uint16_t>(count);
    CHECK(with(layers) < last);
    last = with(layers);
  }
  CHECK(last > 0.1 + std::max(0.2, alone));
}

TEST_CASE("links of workers and servers are apart, and a host's are shared by its tasks") {
  const ModelProfile model = resnet50(1);
  const double twice = 2 * model.gradient_mib * 1048576;
  // One of each on each of four hosts: all but a quarter goes out.
  CHECK(served_network_bytes(model, {4, 4, 4, 1}) == doctest::Approx(twice * 3 / 4));
  // One server for four workers: its host takes in what three others send.
  CHECK(served_network_bytes(model, {4, 1, 4, 1}) == doctest::Approx(twice * 3));
  // Four workers a host send four times as much.
  CHECK(served_network_bytes(model, {16, 16, 4, 1}) == doctest::Approx(4 * twice * 3 / 4));
  CHECK(served_network_bytes(model, {4, 4, 1, 1}) == 0);
}

JobSpec served_job(std::uint32_t workers, std::uint32_t max_servers, double cpus) {
  JobSpec job;
  job.model = "vgg16";
  job.workers = workers;
  job.cpus_per_worker = 1;
  job.run.max_servers = max_servers;
  job.run.server_cpus = cpus;
  return job;
}

TEST_CASE("servers occupy CPUs: as asked is 1, and beside too few CPUs more servers are no gain") {
  GeneratorOptions options;
  options.servers = 2;
  options.gpus_per_server = 4;
  options.cpus = 12;
  const Topology topology = generate_flat(options).value();
  const auto speed = make_analytic_speed(topology);
  const auto physics = make_full_physics(topology, {});
  const JobSpec job = served_job(4, 64, 2);
  const JobProfile profile = profile_of(job);
  CHECK(profile.parameter_servers == 4);
  const Placement all = {GpuId{0}, GpuId{1}, GpuId{2}, GpuId{3}};
  const auto pace = [&](std::uint32_t servers) {
    return speed->pace(profile, all, {}, {4, servers, 0, 0, false});
  };
  CHECK(pace(4) == doctest::Approx(1));
  CHECK(speed->speed(profile, all, {}).relative * speed->scaling(profile) == doctest::Approx(1));
  CHECK(pace(1) < 0.7);
  // The workers' CPUs are the price: of 12 cores the best number is not the largest.
  double best = 0;
  for (std::uint32_t servers = 1; servers <= 64; ++servers) best = std::max(best, pace(servers));
  CHECK(pace(64) < 0.9 * best);
  // Neighbours' servers are a crowd as well, by as many as they run with.
  JobProfile other = profile_of(served_job(1, 64, 2), 1, {1, 8, 0, 0, false});
  const JobProfile own = profile_of(served_job(1, 1, 2));
  const Placement first = {GpuId{0}}, second = {GpuId{1}};
  const auto beside = [&] { return physics->rate(own, first, {{other, second}}); };
  const double crowded = beside();
  other.running_servers = 1;
  CHECK(crowded < 0.9 * beside());
  // Who needs no CPU costs nothing, as without these fields.
  JobSpec free = served_job(4, 4, 0), named = free;
  named.run = {};
  named.model = "vgg16 (parameter servers)";
  CHECK(physics->rate(profile_of(free), all, {}) == physics->rate(profile_of(named), all, {}));
}

TEST_CASE("more GPUs of a job whose servers are bounded") {
  JobSpec job = served_job(4, 4, 2);
  job.min_workers = 1, job.max_workers = 16;
  CHECK(profile_of(job, 16).parameter_servers == 4);
  CHECK(profile_of(job, 16).asked_servers == 4);
  CHECK(profile_of(job, 2).parameter_servers == 2);
  const Topology topology = generate_flat({.servers = 4, .gpus_per_server = 8}).value();
  const auto speed = make_analytic_speed(topology);
  CHECK(speed->scaling(profile_of(job, 4)) == 1);
  CHECK(speed->scaling(profile_of(job, 16)) < 4);
}

}  // namespace
}  // namespace starling
