// SPDX-License-Identifier: Apache-2.0
#include "policies/smd/layered_steps.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/rng.h"
#include "interference/pace/server_curve.h"
#include "interference/parameter_servers.h"
#include "interference/sync.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("one layer is Optimus' synchronous step") {
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) {
    LayeredSteps steps;
    steps.batch = 1 + rng.below(512);
    steps.forward_s = rng.uniform();
    steps.layers = {{rng.uniform(), 10 * rng.uniform()}};
    steps.worker_s = 0.01 * rng.uniform();
    steps.server_s = 0.01 * rng.uniform();
    const LayeredSteps::Layer& layer = steps.layers.front();
    const ServerCurve optimus{
        true,
        {steps.forward_s + layer.backward_s, 0, layer.exchange_s, steps.worker_s, steps.server_s}};
    const double w = 1 + rng.below(32), p = 1 + rng.below(32);
    CHECK(steps.step_s(w, p) * optimus.speed(w, p, steps.batch) == doctest::Approx(1));
  }
}

// The schedule itself: layers are pushed one after another, each once it is computed.
TEST_CASE("a step ends when the first layer has been pushed") {
  Rng rng(2);
  for (int i = 0; i < 1000; ++i) {
    LayeredSteps steps;
    steps.batch = 1 + rng.below(64);
    steps.forward_s = rng.uniform();
    for (std::uint32_t l = 1 + rng.below(8); l > 0; --l)
      steps.layers.push_back({rng.uniform(), 5 * rng.uniform()});
    const double w = 1 + rng.below(16), p = 1 + rng.below(16);
    double computed = steps.batch / w * steps.forward_s, pushed = 0;
    for (auto layer = steps.layers.rbegin(); layer != steps.layers.rend(); ++layer) {
      computed += steps.batch / w * layer->backward_s;
      pushed = std::max(pushed, computed) + w / p * layer->exchange_s;
    }
    CHECK(steps.step_s(w, p) == doctest::Approx(pushed));
  }
}

TEST_CASE("a job's layers are those of its model, and its servers serve as fast as their CPUs") {
  GeneratorOptions options;
  options.groups = {{2, "V100"}, {1, "K80"}};
  const Topology topology = generate_flat(options).value();
  const PartitionLink link = partition_link(topology, {0, 3});
  CHECK(topology.gpu_types()[link.type.value].name == "V100");
  CHECK(link.bytes_per_s ==
        doctest::Approx(topology.server(ServerId{0}).nic_gbps * 1e9 / 8 * kNetworkShare));
  JobSpec job;
  job.model = "vgg16";
  job.workers = 4;
  job.run.max_servers = 8;
  const ModelProfile& model = model_profile("vgg16");
  const LayeredSteps free = layered_steps(job, topology, link);
  REQUIRE(free.layers.size() == model.layers);
  double backward = 0, exchange = 0;
  for (const auto& layer : free.layers) backward += layer.backward_s, exchange += layer.exchange_s;
  CHECK(free.forward_s + backward == doctest::Approx(model.iteration_s));
  CHECK(exchange == doctest::Approx(2 * model.gradient_mib * 1048576 / link.bytes_per_s));
  job.run.server_cpus = 2;
  const LayeredSteps bound = layered_steps(job, topology, link);
  CHECK(
      bound.layers[0].exchange_s - free.layers[0].exchange_s ==
      doctest::Approx(2 * model.gradient_mib * 1048576 / (2 * kServerBytesPerCpuS) / model.layers));
}

}  // namespace
}  // namespace starling
