// SPDX-License-Identifier: Apache-2.0
// Gangs inside a scale-up domain and gangs that leave one. Each test states what follows from the
// domain's links for the time of an iteration.
#include <doctest/doctest.h>

#include <string>

#include "base/rng.h"
#include "interference/iteration.h"
#include "interference/models.h"
#include "topology/generate/generate.h"
#include "workload/catalogue.h"

using namespace starling;

namespace {

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

// `each` GPUs of every tray from `first` on.
Placement on_trays(std::uint32_t first, std::uint32_t trays, std::uint32_t each) {
  Placement out;
  for (std::uint32_t t = first; t < first + trays; ++t) {
    for (std::uint32_t g = 0; g < each; ++g) out.emplace_back(t * 4 + g);
  }
  return out;
}

Placement both(Placement a, const Placement& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Topology nvl72() { return generate_nvl72({.racks = 2}).value(); }

// One server of 16 GPUs with the links, GPUs and cores per GPU of four trays.
Topology one_server() {
  GeneratorOptions options;
  options.servers = 1;
  options.gpu_type = "GB200";
  options.gpus_per_server = options.gpus_per_island = 16;
  options.cpus = 4 * 144;
  options.nvlink_gbps = 7200;
  return generate_flat(options).value();
}

}  // namespace

TEST_CASE("16 GPUs on 4 trays of a domain are as fast as in one server, and faster than apart") {
  const Topology racks = nvl72();
  const Topology server = one_server();
  const IterationForm over_trays(racks, 0);
  const IterationForm inside(server, 0);
  const Placement all = on_trays(0, 4, 4);
  const Placement apart = both(on_trays(0, 2, 4), on_trays(18, 2, 4));
  for (const ModelProfile& model : catalogue()) {
    for (const std::uint32_t parameter_servers : {0U, 4U}) {
      CAPTURE(model.name);
      CAPTURE(parameter_servers);
      const JobProfile job{std::string(model.name), 16, 0, parameter_servers};
      const double in_domain = over_trays.iteration_s(job, all, {});
      CHECK(in_domain == inside.iteration_s(job, all, {}));
      CHECK(in_domain < over_trays.iteration_s(job, apart, {}));
      CHECK(over_trays.relative(job, all, {}) == doctest::Approx(1));
      CHECK(over_trays.relative(job, apart, {}) < 1);
    }
  }
}

TEST_CASE("one GPU of each of 16 trays is as near as four trays") {
  const Topology racks = nvl72();
  const IterationForm form(racks, 0);
  const JobProfile job{"vgg16", 16, 0};
  CHECK(form.iteration_s(job, on_trays(0, 16, 1), {}) ==
        form.iteration_s(job, on_trays(0, 4, 4), {}));
}

TEST_CASE("without its domain the same rack is slower") {
  Topology::Parts parts = nvl72().parts();
  parts.domains.clear();
  const Topology plain(parts);
  const JobProfile job{"vgg16", 16, 0};
  CHECK(IterationForm(nvl72(), 0).iteration_s(job, on_trays(0, 4, 4), {}) <
        IterationForm(plain, 0).iteration_s(job, on_trays(0, 4, 4), {}));
}

TEST_CASE("gangs of one domain do not slow one another through links; gangs that leave do") {
  const Topology racks = nvl72();
  const IterationForm form(racks, 0);
  const JobProfile job{"vgg16", 4, 1};
  const Neighbours inside{{job, gpus({1, 5, 9, 13})}};
  CHECK(form.iteration_s(job, gpus({0, 4, 8, 12}), inside) ==
        form.iteration_s(job, gpus({0, 4, 8, 12}), {}));
  const Placement leaves = gpus({0, 4, 72, 76});
  const double alone = form.iteration_s(job, leaves, {});
  CHECK(form.iteration_s(job, leaves, inside) == alone);  // it takes nothing of the NICs
  CHECK(form.iteration_s(job, leaves, {{job, gpus({1, 5, 73, 77})}}) > alone);
}

TEST_CASE("a gang leaves a domain through the NICs of all its servers there") {
  const Topology racks = nvl72();
  const IterationForm form(racks, 0);
  const JobProfile job{"vgg16", 8, 1};
  const double one_nic = form.iteration_s(job, both(on_trays(0, 1, 4), on_trays(18, 1, 4)), {});
  const double two = form.iteration_s(job, both(on_trays(0, 2, 2), on_trays(18, 2, 2)), {});
  const double lopsided = form.iteration_s(job, both(on_trays(0, 1, 4), on_trays(18, 2, 2)), {});
  CHECK(two < one_nic);
  CHECK(lopsided == one_nic);  // the narrower side decides
}

TEST_CASE("a pod's domain: racks do not matter within it") {
  const Topology pods =
      generate_torus_pods(
          {.servers = 32, .servers_per_rack = 4, .server_template = "tpu-v4", .racks_per_pod = 4})
          .value();
  const IterationForm form(pods, 0);
  const JobProfile job{"bert", 8, 1};
  const double near = form.iteration_s(job, on_trays(0, 2, 4), {});
  CHECK(form.iteration_s(job, both(on_trays(0, 1, 4), on_trays(15, 1, 4)), {}) == near);
  CHECK(form.iteration_s(job, both(on_trays(15, 1, 4), on_trays(16, 1, 4)), {}) > near);
}

TEST_CASE("no placement is faster than the best that is said to exist") {
  const Topology racks = nvl72();
  const auto physics = make_full_physics(racks);
  const IterationForm form(racks, 0);
  Rng rng(5);
  for (int i = 0; i < 400; ++i) {
    const auto models = catalogue();
    const std::uint32_t count = 1 + rng.below(40);
    JobProfile job;
    job.model = models[rng.below(static_cast<std::uint32_t>(models.size()))].name;
    job.gpus = count;
    Placement placement;
    for (std::uint32_t g = rng.below(20); placement.size() < count; g += 1 + rng.below(3))
      placement.emplace_back(g);
    CAPTURE(job.model);
    CAPTURE(count);
    CHECK(form.iteration_s(job, placement, {}) >= form.best_s(job, count) * (1 - 1e-9));
    const double rate = physics->rate(job, placement, {});
    CHECK(rate > 0);
    CHECK(rate <= 1);
  }
  const JobProfile large{"vgg16", 144, 0};
  CHECK(form.relative(large, on_trays(0, 36, 4), {}) == doctest::Approx(1));
}
