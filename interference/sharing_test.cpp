// SPDX-License-Identifier: Apache-2.0
#include "interference/sharing.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "base/test_data.h"
#include "interference/memory.h"
#include "interference/models.h"
#include "topology/generate/generate.h"
#include "workload/gavel_throughput.h"
#include "workload/stats.h"
#include "workload/text/csv.h"
#include "workload/text/text_file.h"

using namespace starling;

namespace {

Topology one_type(const std::string& gpu, std::uint32_t servers = 2, double cpus = 256) {
  GeneratorOptions options;
  options.servers = servers;
  options.gpu_type = gpu;
  options.cpus = cpus;
  return generate_flat(options).value();
}

Placement gpus(std::initializer_list<std::uint32_t> ids) {
  Placement out;
  for (const std::uint32_t id : ids) out.emplace_back(id);
  return out;
}

const JobProfile kResnet{"ResNet-50 (batch size 64)", 1, 0};
const JobProfile kLanguage{"LM (batch size 20)", 1, 0};
const JobProfile kWide{"ResNet-50 (batch size 128)", 1, 0};

double number(std::string_view text) {
  double value = 0;
  REQUIRE(parse_number(text, value));
  return value;
}

std::string job_model(std::string_view model, std::string_view batch) {
  const auto* type = gavel_job_type(model, static_cast<std::uint32_t>(number(batch)));
  REQUIRE(type != nullptr);
  return type->job_model();
}

// How far the pair speeds of one GPU type are from ours.
struct PairErrors {
  std::vector<double> absolute;
  std::vector<double> measured_total, our_total;
  std::size_t misjudged = 0;  // one says that the pair gains a third over taking turns, one not

  void add(double measured_a, double measured_b, double ours_a, double ours_b) {
    absolute.push_back(std::abs(measured_a - ours_a));
    absolute.push_back(std::abs(measured_b - ours_b));
    measured_total.push_back(measured_a + measured_b);
    our_total.push_back(ours_a + ours_b);
    if ((measured_total.back() > 1.3) != (our_total.back() > 1.3)) ++misjudged;
  }
};

}  // namespace

TEST_CASE("any two models share any GPU at speeds in (0, 1]; batch size and GPU type count") {
  std::vector<const ModelProfile*> models;
  for (const ModelProfile& model : catalogue()) models.push_back(&model);
  for (const ModelProfile& model : gavel_models()) models.push_back(&model);
  for (const GpuKind kind : {GpuKind::k80, GpuKind::p100, GpuKind::v100, GpuKind::a100}) {
    for (const ModelProfile* own : models) {
      for (const ModelProfile* other : models) {
        const double speed = sharing_speed(*own, *other, kind);
        REQUIRE(speed > 0.02);
        REQUIRE(speed <= 1);
      }
    }
  }
  const ModelProfile& small = model_profile("Transformer (batch size 16)");
  const ModelProfile& large = model_profile("Transformer (batch size 256)");
  CHECK(sharing_speed(small, small, GpuKind::v100) !=
        doctest::Approx(sharing_speed(small, large, GpuKind::v100)).epsilon(0.02));
  CHECK(sharing_speed(small, small, GpuKind::v100) !=
        doctest::Approx(sharing_speed(small, small, GpuKind::k80)).epsilon(0.02));
  // A family is its usual batch size; unknown jobs are all alike.
  CHECK(sharing_speed(model_profile("resnet50"), large, GpuKind::p100) ==
        sharing_speed(model_profile("ResNet-50 (batch size 64)"), large, GpuKind::p100));
  CHECK(sharing_speed(model_profile("vgg16"), large, GpuKind::p100) ==
        sharing_speed(model_profile(""), large, GpuKind::p100));
}

TEST_CASE("alone on a GPU a pair runs at its sharing speed, to the analytic model and the world") {
  const Topology topology = one_type("V100");
  const auto speed = make_analytic_speed(topology);
  const auto physics = make_full_physics(topology);
  const double expected =
      sharing_speed(model_profile(kResnet.model), model_profile(kLanguage.model), GpuKind::v100);
  const Neighbours other = {{kLanguage, gpus({3})}};
  CHECK(speed->speed(kResnet, gpus({3}), other).relative == doctest::Approx(expected));
  CHECK(physics->rate(kResnet, gpus({3}), other) == doctest::Approx(expected).epsilon(0.02));
  CHECK(speed->speed(kResnet, gpus({3}), {{kLanguage, gpus({4})}}).relative == doctest::Approx(1));
  // Whichever is named first, and one more only slows.
  const Neighbours two = {{kLanguage, gpus({3})}, {kResnet, gpus({3})}};
  const Neighbours turned = {{kResnet, gpus({3})}, {kLanguage, gpus({3})}};
  CHECK(speed->speed(kResnet, gpus({3}), two).relative ==
        speed->speed(kResnet, gpus({3}), turned).relative);
  CHECK(speed->speed(kResnet, gpus({3}), two).relative < expected);
}

TEST_CASE("a gang moves at its most crowded GPU, and two crowded ones are no worse than one") {
  const Topology topology = one_type("V100");
  const auto physics = make_full_physics(topology);
  const JobProfile gang{kResnet.model, 4, 0};
  const Placement where = gpus({0, 1, 8, 9});
  const double alone = physics->rate(gang, where, {});
  const double one = physics->rate(gang, where, {{kLanguage, gpus({9})}});
  CHECK(one < 0.9 * alone);
  CHECK(physics->rate(gang, where, {{kLanguage, gpus({1})}, {kLanguage, gpus({9})}}) ==
        doctest::Approx(one).epsilon(0.01));
  // A gang of equal size on the same GPUs, as a neighbour that crosses its NICs as well.
  const JobProfile twin{kLanguage.model, 4, 0};
  CHECK(physics->rate(gang, where, {{twin, where}}) < one);
  CHECK(physics->rate(twin, where, {{gang, where}}) < physics->rate(twin, where, {}));
}

TEST_CASE("without the memory for both, both crawl") {
  const JobProfile transformer{"Transformer (batch size 256)", 1, 0};
  for (const char* gpu : {"K80", "V100"}) {
    const Topology topology = one_type(gpu);
    const auto physics = make_full_physics(topology);
    REQUIRE(!fits_together(kWide, transformer, topology, GpuId(0)));
    const double rate = physics->rate(kWide, gpus({0}), {{transformer, gpus({0})}});
    CHECK(rate > 0);
    CHECK(rate <= kThrashing);
    CHECK(physics->rate(transformer, gpus({0}), {{kWide, gpus({0})}}) <= kThrashing);
    CHECK(physics->rate(kWide, gpus({0}), {{transformer, gpus({1})}}) > 0.9);
  }
  const auto roomy = make_full_physics(one_type("A100-80GB"));
  CHECK(roomy->rate(kWide, gpus({0}), {{transformer, gpus({0})}}) > 2 * kThrashing);
}

TEST_CASE("cores: every job of a server counts, those on one GPU as the hungrier of them") {
  const Topology topology = one_type("V100", 2, 8);
  const auto speed = make_analytic_speed(topology);
  const JobProfile hungry{"", 1, 6};
  const JobProfile modest{"", 1, 2};
  const auto at = [&](const Neighbours& beside) {
    return speed->speed(hungry, gpus({0}), beside).relative;
  };
  CHECK(at({}) == doctest::Approx(1));
  CHECK(at({{modest, gpus({1})}}) == doctest::Approx(1));
  CHECK(at({{hungry, gpus({1})}}) == doctest::Approx(8.0 / 12));
  CHECK(at({{hungry, gpus({1})}, {hungry, gpus({1})}}) == doctest::Approx(8.0 / 12));
  CHECK(at({{hungry, gpus({1})}, {modest, gpus({2})}, {modest, gpus({2})}}) ==
        doctest::Approx(8.0 / 14));
  CHECK(at({{hungry, gpus({8})}}) == doctest::Approx(1));
}

TEST_CASE("Gavel's pairs run as fast as they were measured, in all and in the tails" *
          doctest::test_suite("published data")) {
  const auto file = test_data("gavel/colocated.csv");
  if (!file) return;
  struct Gpu {
    const char *source, *type;
    double error;
  };
  const std::string text = read_text_file(*file).value();
  for (const Gpu& gpu : {Gpu{"k80", "K80", 0.02}, {"p100", "P100", 0.02}, {"v100", "V100", 0.05}}) {
    const Topology topology = one_type(gpu.type);
    const auto model = make_analytic_speed(topology);
    PairErrors errors;
    CsvReader csv(text);
    std::vector<std::string_view> row;
    while (csv.next(row)) {
      if (row[0] != "2020" || row[1] != gpu.source || row[10].empty()) continue;
      const JobProfile a{job_model(row[2], row[3]), 1, 0};
      const JobProfile b{job_model(row[4], row[5]), 1, 0};
      if (!fits_together(a, b, topology, GpuId(0))) continue;
      const Placement where = gpus({0});
      errors.add(number(row[10]), number(row[11]), model->speed(a, where, {{b, where}}).relative,
                 model->speed(b, where, {{a, where}}).relative);
    }
    const Quantiles error = quantiles(errors.absolute);
    const Quantiles measured = quantiles(errors.measured_total);
    const Quantiles ours = quantiles(errors.our_total);
    MESSAGE(std::string(gpu.type) << ": " << errors.our_total.size()
                                  << " pairs, mean absolute error " << error.mean << ", 95 % below "
                                  << error.p95 << "; total of a pair, 5/50/95 %: " << measured.p5
                                  << "/" << measured.p50 << "/" << measured.p95 << " measured, "
                                  << ours.p5 << "/" << ours.p50 << "/" << ours.p95
                                  << " ours; worth sharing (total > 1.3) misjudged "
                                  << errors.misjudged);
    CHECK(error.mean < gpu.error);
    CHECK(ours.p5 == doctest::Approx(measured.p5).epsilon(0.15));
    CHECK(ours.p50 == doctest::Approx(measured.p50).epsilon(0.03));
    CHECK(ours.p95 == doctest::Approx(measured.p95).epsilon(0.05));
  }
}
