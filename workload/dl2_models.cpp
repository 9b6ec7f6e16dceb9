// SPDX-License-Identifier: Apache-2.0
#include "workload/dl2_models.h"

#include <algorithm>
#include <array>

namespace starling {
namespace {

// clang-format off
constexpr std::array<Dl2Model, 8> kModels = {{
    {"resnet-50",    .449, 102.2, 91.9,  306.5},
    {"vgg-16",       .535, 553.4, 233.0, 427.8},
    {"resnext-110",  .226, 6.92,  59.5,  63.0},
    {"inception-bn", .815, 42.1,  145.9, 1082.1},
    {"seq2seq",      .075, 36.5,  120.1, 181.1},
    {"cnn-text",     .585, 24.0,  60.8,  159.6},
    {"dssm",         .567, 6.0,   92.1,  65.6},
    {"wlm",          .154, 19.2,  10.4,  22.9},
}};
// clang-format on

}  // namespace

std::span<const Dl2Model> dl2_models() noexcept { return kModels; }

const Dl2Model* dl2_model(std::string_view name) noexcept {
  const auto* at = std::ranges::find(kModels, name, &Dl2Model::name);
  return at == kModels.end() ? nullptr : at;
}

}  // namespace starling
