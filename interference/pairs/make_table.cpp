// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "interference/pairs/pair_data.h"

namespace starling {

PairTable pair_table(const PairData& data) {
  PairTable out;
  out.sets = data.sets;
  for (const PairType& type : data.types) {
    out.types.push_back(type.name);
    const auto at = std::find(out.models.begin(), out.models.end(), type.model);
    out.model_of.push_back(at - out.models.begin());
    if (at == out.models.end()) out.models.push_back(type.model);
    out.config_width = std::max(out.config_width, type.config.size());
    out.profile_width = std::max(out.profile_width, type.profile.size());
  }
  const std::size_t width = out.profile_width;
  std::vector<double> sum(width), squares(width);
  double count = 0;
  for (const PairType& type : data.types) {
    if (type.profile.empty()) continue;
    ++count;
    for (std::size_t p = 0; p < width; ++p) {
      const auto value = static_cast<double>(type.profile[p]);
      sum[p] += value;
      squares[p] += value * value;
    }
  }
  for (std::size_t p = 0; p < width; ++p) {
    const double mean = sum[p] / count;
    const double deviation = std::sqrt(std::max(squares[p] / count - mean * mean, 0.0));
    out.profile_mean.push_back(static_cast<float>(mean));
    out.profile_scale.push_back(static_cast<float>(1 / std::max(deviation, 1e-3)));
  }
  out.config_center.resize(out.models.size() * out.config_width);
  out.config_scale.assign(out.config_center.size(), 1);
  for (std::size_t m = 0; m < out.models.size(); ++m) {
    for (std::size_t c = 0; c < out.config_width; ++c) {
      float low = 1e9F, high = -1e9F;
      for (std::size_t t = 0; t < data.types.size(); ++t) {
        if (out.model_of[t] != static_cast<std::int64_t>(m)) continue;
        low = std::min(low, data.types[t].config[c]);
        high = std::max(high, data.types[t].config[c]);
      }
      out.config_center[m * out.config_width + c] = (low + high) / 2;
      if (high > low) out.config_scale[m * out.config_width + c] = 2 / (high - low);
    }
  }
  for (const PairType& type : data.types) {
    out.configs.insert(out.configs.end(), type.config.begin(), type.config.end());
    const std::vector<float>& profile = type.profile.empty() ? out.profile_mean : type.profile;
    out.profiles.insert(out.profiles.end(), profile.begin(), profile.end());
  }
  return out;
}

}  // namespace starling
