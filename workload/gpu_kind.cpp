// SPDX-License-Identifier: Apache-2.0
#include "workload/gpu_kind.h"

#include <array>

namespace starling {
namespace {

constexpr std::array<std::string_view, kGpuKinds> kNames = {"K80", "P100", "V100",
                                                            "T4",  "A100", "H100"};
// K80, P100: median over 26 job types of Gavel's isolated throughputs (2020_sim, 1 GPU) relative to
// the V100. T4: images/s of ResNet-50 b200 in Pollux (216) over b128 on Gavel's V100 (320). A100:
// ElasticFlow's ResNet-50 b128 (468) over the same 320. H100: twice an A100, from MLPerf training;
// not measured in the published data.
constexpr std::array<double, kGpuKinds> kSpeeds = {0.25, 0.81, 1.0, 0.67, 1.46, 2.9};

char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

bool starts_with(std::string_view text, std::string_view prefix) noexcept {
  if (text.size() < prefix.size()) return false;
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if (upper(text[i]) != prefix[i]) return false;
  }
  return true;
}

}  // namespace

GpuKind gpu_kind(std::string_view type) noexcept {
  for (std::size_t i = 0; i < kGpuKinds; ++i) {
    if (starts_with(type, kNames[i])) return static_cast<GpuKind>(i);
  }
  return GpuKind::other;
}

double typical_speed(GpuKind kind) noexcept {
  return kind == GpuKind::other ? 1 : kSpeeds[static_cast<std::size_t>(kind)];
}

}  // namespace starling
