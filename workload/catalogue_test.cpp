// SPDX-License-Identifier: Apache-2.0
#include "workload/catalogue.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "workload/gavel_throughput.h"

using namespace starling;

TEST_CASE("the catalogue is sorted and its figures are physical; every name finds itself") {
  const auto models = catalogue();
  CHECK(models.size() >= 40);
  CHECK(std::is_sorted(models.begin(), models.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const ModelProfile& model : models) {
    CAPTURE(model.name);
    CHECK(&model_profile(model.name) == &model);
    CHECK(model.iteration_s > 0.001);
    CHECK(model.gradient_mib > 0);
    CHECK(model.cpus_per_gpu >= 1);
    CHECK(model.gpu_utilization <= 1);
    CHECK(model.memory_gib > 0);
    CHECK(model.checkpoint_mib >= model.gradient_mib);
    CHECK(model.sources.size() > 10);
    for (const char* type : {"K80", "P100", "V100", "T4", "A100", "H100"}) {
      const double speed = speed_on(model, gpu_kind(type));
      CHECK(speed > 0.05);
      CHECK(speed < 4);
    }
    CHECK(speed_on(model, GpuKind::v100) == 1);
  }
}

TEST_CASE("names of published traces find their model, unknown names the generic one") {
  CHECK(model_profile("ResNet-50 (batch size 48)").name == "resnet50");
  CHECK(model_profile("LM").name == "lstm-lm");
  CHECK(model_profile("Recommendation").name == "recommendation-ncf");
  CHECK(model_profile("cycle-gan").name == "cyclegan");
  CHECK(model_profile("bert").name == "bert-base");
  CHECK(model_profile("").name == "generic");
  CHECK(model_profile("no such model").name == "generic");
  CHECK(!known_model("no such model"));
  CHECK(known_model("A3C"));
  CHECK(model_profile("ncf").name == "neumf");
  // All of Muri's, Tiresias' and Pollux' traces.
  for (const char* name : {"a2c",
                           "alexnet",
                           "bert",
                           "dqn",
                           "googlenet",
                           "gpt2",
                           "inception3",
                           "inception4",
                           "resnet101",
                           "resnet152",
                           "resnet18",
                           "resnet50",
                           "shufflenet_v2_x1_0",
                           "vgg11",
                           "vgg16",
                           "vgg19",
                           "cifar10",
                           "deepspeech2",
                           "imagenet",
                           "ncf",
                           "yolov3",
                           "Transformer"}) {
    CAPTURE(name);
    CHECK(known_model(name));
  }
}

TEST_CASE("Gavel's job types have profiles of their own, and their families the figures of one") {
  const auto types = gavel_job_types();
  REQUIRE(gavel_models().size() == types.size());
  for (std::size_t t = 0; t < types.size(); ++t) {
    const ModelProfile& model = gavel_models()[t];
    CAPTURE(model.name);
    CHECK(&model_profile(types[t].job_model()) == &model);
    CHECK(model.gavel_type == static_cast<int>(t));
    CHECK(model.iteration_s == doctest::Approx(1 / types[t].speed(GpuKind::v100, 1)));
    CHECK(model.memory_gib < 16);
    CHECK(speed_on(model, GpuKind::k80) <= 1);
    const ModelProfile& family = catalogue()[model.family];
    CHECK(model.gradient_mib == family.gradient_mib);
    CHECK(types[static_cast<std::size_t>(family.gavel_type)].model == types[t].model);
    if (t > 0 && types[t - 1].model == types[t].model)
      CHECK(model.memory_gib >= gavel_models()[t - 1].memory_gib);
  }
  for (const ModelProfile& model : catalogue()) {
    CAPTURE(model.name);
    CHECK(&catalogue()[model.family] == &model);
    if (model.gavel_type < 0) continue;
    const ModelProfile& type = gavel_models()[static_cast<std::size_t>(model.gavel_type)];
    CHECK(type.iteration_s == doctest::Approx(model.iteration_s).epsilon(0.01));
    CHECK(type.memory_gib == model.memory_gib);
    CHECK(speed_on(type, GpuKind::k80) ==
          doctest::Approx(speed_on(model, GpuKind::k80)).epsilon(0.01));
  }
  CHECK(model_profile("A3C").gavel_type == 0);
  CHECK(model_profile("vgg16").gavel_type == -1);
}

TEST_CASE("GPU types are told from how their names start, and models run at measured speeds") {
  CHECK(gpu_kind("a100-80GB") == GpuKind::a100);
  CHECK(gpu_kind("V100M32") == GpuKind::v100);
  CHECK(gpu_kind("G2") == GpuKind::other);
  CHECK(speed_on(model_profile("resnet50"), GpuKind::k80) == doctest::Approx(0.141));
  CHECK(speed_on(model_profile("vgg16"), GpuKind::k80) == typical_speed(GpuKind::k80));
  CHECK(speed_on(model_profile("vgg16"), GpuKind::other) == 1);
}
