#include "workload/catalogue.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;

TEST_CASE("the catalogue is sorted and its figures are physical; every name finds itself") {
  const auto models = catalogue();
  CHECK(models.size() >= 20);
  CHECK(std::is_sorted(models.begin(), models.end(),
                       [](const auto& a, const auto& b) { return a.name < b.name; }));
  for (const ModelProfile& model : models) {
    CAPTURE(model.name);
    CHECK(&model_profile(model.name) == &model);
    CHECK(model.iteration_s > 0.001);
    CHECK(model.gradient_mib > 0);
    CHECK(model.cpus_per_gpu >= 1);
    CHECK(model.gpu_utilization <= 1);
  }
}

TEST_CASE("names of published traces find their model, unknown names the generic one") {
  CHECK(model_profile("ResNet-50 (batch size 64)").name == "resnet50");
  CHECK(model_profile("LM").name == "lstm-lm");
  CHECK(model_profile("Recommendation").name == "recommendation-ncf");
  CHECK(model_profile("CycleGAN").name == "cyclegan");
  CHECK(model_profile("bert").name == "bert-base");
  CHECK(model_profile("").name == "generic");
  CHECK(model_profile("no such model").name == "generic");
  CHECK(!known_model("no such model"));
  CHECK(known_model("A3C"));
}
