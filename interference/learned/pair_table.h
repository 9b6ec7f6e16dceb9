// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "nets/weights.h"

namespace starling {

/// A job type that was measured beside others.
struct PairType {
  std::string name;
  std::string model;           ///< its family
  std::vector<float> config;   ///< e.g. log2 of the batch size; all types have as many
  std::vector<float> profile;  ///< what is known of it alone; empty: nothing
};

/// The types that a PairNet knows, as they lie beside its tensors: names, models, configurations,
/// profiles, and how the latter two are scaled (per model, per column).
struct PairTable {
  std::vector<std::string> sets, types, models;
  std::vector<std::int64_t> model_of;  ///< by type
  std::size_t config_width = 0, profile_width = 0;
  std::vector<float> configs, profiles;  ///< by type
  std::vector<float> config_center, config_scale, profile_mean, profile_scale;

  [[nodiscard]] std::vector<float> scaled_configs() const;
  [[nodiscard]] std::vector<float> scaled_profiles() const;
  void save(const std::string& prefix, Weights& weights) const;
  /// `not_found` or `invalid` names the tensor or note.
  [[nodiscard]] static Result<PairTable> load(const Weights& weights, const std::string& prefix);
};

}  // namespace starling
