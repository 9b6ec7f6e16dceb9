// SPDX-License-Identifier: Apache-2.0
#include "interference/adapt/shift_prior.h"

#include <algorithm>
#include <vector>

namespace starling {
namespace {

constexpr const char* kVersion = "1";
constexpr std::size_t kUtilization = 4;  // of gpu_profile()
constexpr double kMostProfile = 3;       // scaled: beyond what was seen

}  // namespace

ShiftFeatures ShiftPrior::features(std::span<const float> own, std::span<const float> its,
                                   double predicted) const {
  ShiftFeatures out{};
  out[0] = 1;
  out[1] = predicted;
  const auto scaled = [&](std::span<const float> profile, std::size_t i) {
    const double value = (static_cast<double>(profile[i]) - profile_mean[i]) * profile_scale[i];
    return std::clamp(value, -kMostProfile, kMostProfile);
  };
  for (std::size_t i = 0; i < kGpuProfile; ++i) {
    out[2 + i] = scaled(own, i);
    out[2 + kGpuProfile + i] = scaled(its, i);
  }
  out.back() = out[2 + kUtilization] * out[2 + kGpuProfile + kUtilization];
  return out;
}

ShiftPrior ShiftPrior::widened(double times) const {
  ShiftPrior out = *this;
  for (double& deviation : out.slope_deviation) deviation *= times;
  out.victim *= times, out.other *= times, out.pair *= times;
  return out;
}

void ShiftPrior::save(Weights& weights) const {
  weights.notes["shift"] = kVersion;
  const auto put = [&](const char* name, std::span<const double> values) {
    Tensor tensor{{static_cast<std::uint32_t>(values.size())}, {}};
    for (const double value : values) tensor.values.push_back(static_cast<float>(value));
    weights.tensors[std::string("shift.") + name] = std::move(tensor);
  };
  put("profile_mean", profile_mean);
  put("profile_scale", profile_scale);
  put("slope", slope);
  put("slope_deviation", slope_deviation);
  put("deviations", std::array{victim, other, pair, noise});
}

bool ShiftPrior::is_one(const Weights& weights) { return !weights.note("shift").empty(); }

Result<ShiftPrior> ShiftPrior::load(const Weights& weights) {
  if (const std::string version = weights.note("shift"); version != kVersion) {
    return Error{Errc::invalid, version.empty()
                                    ? "these weights are no prior of shifts; 'starling "
                                      "interference meta' makes one"
                                    : "the prior of shifts has format " + version.substr(0, 32) +
                                          "; this program reads " + kVersion + ": make it again"};
  }
  ShiftPrior out;
  std::array<double, 4> deviations{};
  Status status = done();
  const auto take = [&](const char* name, std::span<double> into) {
    const std::uint32_t shape[] = {static_cast<std::uint32_t>(into.size())};
    const auto tensor = weights.tensor(std::string("shift.") + name, shape);
    if (!status) return;
    if (!tensor) {
      status = tensor.error();
      return;
    }
    std::ranges::copy(tensor.value()->values, into.begin());
  };
  take("profile_mean", out.profile_mean);
  take("profile_scale", out.profile_scale);
  take("slope", out.slope);
  take("slope_deviation", out.slope_deviation);
  take("deviations", deviations);
  if (!status) return status.error();
  if (std::ranges::any_of(deviations, [](double d) { return d <= 0; }) ||
      std::ranges::any_of(out.slope_deviation, [](double d) { return d <= 0; }))
    return Error{Errc::invalid, "the prior of shifts has a deviation that is not above 0"};
  out.victim = deviations[0], out.other = deviations[1];
  out.pair = deviations[2], out.noise = deviations[3];
  return out;
}

}  // namespace starling
