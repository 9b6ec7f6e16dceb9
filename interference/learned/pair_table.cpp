// SPDX-License-Identifier: Apache-2.0
#include "interference/learned/pair_table.h"

#include <algorithm>
#include <cmath>

namespace starling {
namespace {

constexpr const char* kTable = "table.";

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += name + "\n";
  return out;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

Tensor tensor(std::vector<std::uint32_t> shape, std::vector<float> values) {
  return {std::move(shape), std::move(values)};
}

}  // namespace

std::vector<float> PairTable::scaled_configs() const {
  std::vector<float> out = configs;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t c = i % config_width;
    const std::size_t m = static_cast<std::size_t>(model_of[i / config_width]) * config_width + c;
    out[i] = (out[i] - config_center[m]) * config_scale[m];
  }
  return out;
}

std::vector<float> PairTable::scaled_profiles() const {
  std::vector<float> out = profiles;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t c = i % profile_width;
    out[i] = (out[i] - profile_mean[c]) * profile_scale[c];
  }
  return out;
}

void PairTable::save(const std::string& prefix, Weights& weights) const {
  const auto t = static_cast<std::uint32_t>(types.size());
  const auto m = static_cast<std::uint32_t>(models.size());
  const auto c = static_cast<std::uint32_t>(config_width);
  const auto p = static_cast<std::uint32_t>(profile_width);
  weights.notes[prefix + "sets"] = joined(sets);
  weights.notes[prefix + "types"] = joined(types);
  weights.notes[prefix + "models"] = joined(models);
  std::vector<float> model_index;
  for (const std::int64_t model : model_of) model_index.push_back(static_cast<float>(model));
  weights.tensors[prefix + kTable + "model"] = tensor({t}, std::move(model_index));
  weights.tensors[prefix + kTable + "config"] = tensor({t, c}, configs);
  weights.tensors[prefix + kTable + "profile"] = tensor({t, p}, profiles);
  weights.tensors[prefix + "config.center"] = tensor({m, c}, config_center);
  weights.tensors[prefix + "config.scale"] = tensor({m, c}, config_scale);
  weights.tensors[prefix + "profile.mean"] = tensor({p}, profile_mean);
  weights.tensors[prefix + "profile.scale"] = tensor({p}, profile_scale);
}

Result<PairTable> PairTable::load(const Weights& weights, const std::string& prefix) {
  PairTable table;
  for (const auto& [name, into] :
       {std::pair{"sets", &table.sets}, {"types", &table.types}, {"models", &table.models}}) {
    *into = split(weights.note(prefix + name));
    if (into->empty()) return Error{Errc::not_found, "note " + prefix + name + " is missing"};
  }
  const auto t = static_cast<std::uint32_t>(table.types.size());
  const std::uint32_t models = static_cast<std::uint32_t>(table.models.size());
  const auto take = [&](const char* name, std::vector<std::uint32_t> shape,
                        std::vector<float>& values, std::size_t* width) -> Status {
    const auto found = weights.tensor(prefix + name, shape);
    if (!found) return found.error();
    values = found.value()->values;
    if (width != nullptr) *width = found.value()->shape.back();
    return done();
  };
  std::vector<float> model;
  if (const auto got = take("table.model", {t}, model, nullptr); !got) return got.error();
  for (const float m : model) {
    if (m < 0 || m >= static_cast<float>(models))
      return Error{Errc::invalid, "tensor " + prefix + "table.model names no model"};
    table.model_of.push_back(static_cast<std::int64_t>(m));
  }
  if (const auto got = take("table.config", {t, 0}, table.configs, &table.config_width); !got)
    return got.error();
  if (const auto got = take("table.profile", {t, 0}, table.profiles, &table.profile_width); !got)
    return got.error();
  const auto c = static_cast<std::uint32_t>(table.config_width);
  const auto p = static_cast<std::uint32_t>(table.profile_width);
  for (const auto& [name, shape, into] :
       {std::tuple{"config.center", std::vector<std::uint32_t>{models, c}, &table.config_center},
        {"config.scale", {models, c}, &table.config_scale},
        {"profile.mean", {p}, &table.profile_mean},
        {"profile.scale", {p}, &table.profile_scale}}) {
    if (const auto got = take(name, shape, *into, nullptr); !got) return got.error();
  }
  return table;
}

}  // namespace starling
