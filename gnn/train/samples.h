#pragma once

#include <cstdint>
#include <vector>

namespace starling {

/// Questions and answers of the analytic speed model, as a network sees them. Rows of
/// kSpeedFeatures.
struct SpeedSamples {
  std::vector<float> features;
  std::vector<float> relative;
  [[nodiscard]] std::size_t size() const noexcept { return relative.size(); }
};

/// Random jobs at random places beside random neighbours, on data centres of several sizes and GPU
/// mixes. Same seed, same samples.
[[nodiscard]] SpeedSamples make_speed_samples(std::uint32_t count, std::uint64_t seed);

}  // namespace starling
