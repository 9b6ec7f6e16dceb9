// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/dynamic_batches.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace starling;

namespace {

DynamicBatches rule(std::string_view model, BatchMode mode, std::uint32_t first,
                    std::uint32_t gpus = 1) {
  return {*shockwave_model(model), mode, first, gpus};
}

}  // namespace

TEST_CASE("an epoch is as many steps as its samples take") {
  CHECK(rule("ResNet-18", BatchMode::fixed, 32).steps_per_epoch(32) == 1563);
  CHECK(rule("LM", BatchMode::fixed, 10).steps_per_epoch(10) == 5968);
  CHECK(shockwave_model("GPT-2") == nullptr);
}

TEST_CASE("accordion: the largest batch but in critical epochs") {
  const DynamicBatches resnet = rule("ResNet-50", BatchMode::accordion, 32);
  CHECK_FALSE(resnet.next(32, 9).has_value());
  CHECK(resnet.next(32, 10) == 128);
  CHECK_FALSE(resnet.next(128, 29).has_value());
  CHECK(resnet.next(128, 30) == 32);
  CHECK_FALSE(rule("ResNet-50", BatchMode::accordion, 128).next(128, 15).has_value());
  CHECK_FALSE(rule("Transformer", BatchMode::accordion, 64).next(64, 100).has_value());
}

TEST_CASE("gns: doubles an epoch ahead of the table, up to what fits") {
  const DynamicBatches lm = rule("LM", BatchMode::gns, 10);
  CHECK_FALSE(lm.next(10, 9).has_value());
  CHECK(lm.next(10, 10) == 20);
  CHECK(lm.next(10, 50) == 20);  // one step at a time
  CHECK_FALSE(lm.next(20, 19).has_value());
  CHECK(lm.next(40, 40) == 80);
  CHECK_FALSE(lm.next(80, 500).has_value());
  CHECK_FALSE(rule("ResNet-50", BatchMode::gns, 16).next(16, 500).has_value());  // not tabulated
  CHECK(lm.all() == std::vector<std::uint32_t>{10, 20, 40, 80});
}

TEST_CASE("profiles are not what happens: accordion later, gns smaller in its last epoch") {
  const auto accordion = rule("LM", BatchMode::accordion, 10).profile(100);
  CHECK(accordion[30] == 10);
  CHECK(accordion[31] == 80);
  const auto gns = rule("LM", BatchMode::gns, 10).profile(30);
  CHECK(gns[10] == 10);
  CHECK(gns[11] == 20);
  CHECK(gns[28] == 40);
  CHECK(gns[29] == 10);
  const auto short_gns = rule("LM", BatchMode::gns, 10).profile(15);
  CHECK(short_gns.back() == 20);
  const auto fixed = rule("LM", BatchMode::fixed, 10).profile(3);
  CHECK(fixed == std::vector<std::uint32_t>(3, 10));
}
