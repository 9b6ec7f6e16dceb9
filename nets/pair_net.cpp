// SPDX-License-Identifier: Apache-2.0
#include "nets/pair_net.h"

#include <Eigen/Core>
#include <cmath>

#include "base/check.h"
#include "nets/eigen_types.h"

namespace starling {
namespace {

constexpr std::size_t kMostWidth = 64;  // of an embedding, so that it fits on the stack
constexpr float kMostProfile = 6;       // standard deviations: beyond what training saw

using Array = Eigen::Map<Eigen::ArrayXf>;
using ConstArray = Eigen::Map<const Eigen::ArrayXf>;

Error add_to(std::string what, Error error) {
  error.message = std::move(what) + error.message;
  return error;
}

}  // namespace

Result<PairNet> PairNet::make(const Weights& weights, const std::string& prefix) {
  PairNet net;
  const auto shape_of = [&](const std::string& name, std::size_t rank) -> Result<const Tensor*> {
    const std::vector<std::uint32_t> any(rank, 0);
    return weights.tensor(prefix + name, any);
  };
  const auto slope = shape_of("v.slope", 4);
  if (!slope) return slope.error();
  const auto type = shape_of("v.type", 3);
  if (!type) return type.error();
  const auto profile = shape_of("v.profile", 3);
  if (!profile) return profile.error();
  const auto hidden = shape_of("v.hidden", 3);
  if (!hidden) return hidden.error();
  const auto bias = shape_of("set.bias", 2);
  if (!bias) return bias.error();
  net.members_ = slope.value()->shape[0];
  net.models_ = slope.value()->shape[1];
  net.config_ = slope.value()->shape[2];
  net.width_ = slope.value()->shape[3];
  net.types_ = type.value()->shape[1];
  net.profile_ = profile.value()->shape[1];
  net.hidden_ = hidden.value()->shape[2];
  net.sets_ = bias.value()->shape[1];
  if (net.members_ == 0 || net.sets_ == 0 || net.width_ == 0 || net.width_ > kMostWidth ||
      net.hidden_ == 0 || net.hidden_ > kMostWidth || net.types_ > 4096 || net.models_ > 4096) {
    return Error{Errc::invalid, "tensor " + prefix + "v.*: sizes out of range"};
  }
  Status status = done();
  const auto take = [&](const std::string& name, std::initializer_list<std::size_t> sizes,
                        std::vector<float>& into) {
    if (!status) return;
    std::vector<std::uint32_t> shape;
    for (const std::size_t size : sizes) shape.push_back(static_cast<std::uint32_t>(size));
    const auto found = weights.tensor(prefix + name, shape);
    if (!found) {
      status = add_to("", found.error());
    } else {
      into = found.value()->values;
    }
  };
  const std::size_t k = net.members_, s = net.sets_, t = net.types_, m = net.models_;
  const std::size_t d = net.width_, h = net.hidden_, c = net.config_, p = net.profile_;
  take("config.center", {m, c}, net.config_center_);
  take("config.scale", {m, c}, net.config_scale_);
  take("profile.mean", {p}, net.profile_mean_);
  take("profile.scale", {p}, net.profile_scale_);
  for (const auto& [letter, side] :
       {std::pair{std::string("v."), &net.victim_}, {std::string("o."), &net.aggressor_}}) {
    take(letter + "profile", {k, p, d}, side->profile);
    take(letter + "model", {k, m, d}, side->model);
    take(letter + "slope", {k, m, c, d}, side->slope);
    take(letter + "type", {k, t, d}, side->type);
    take(letter + "film", {k, s, d}, side->film);
    take(letter + "linear", {k, s, d}, side->linear);
    take(letter + "hidden", {k, d, h}, side->hidden);
    take(letter + "type_bias", {k, s, t}, side->type_bias);
    take(letter + "model_bias", {k, s, m}, side->model_bias);
  }
  take("set.hidden", {k, s, h}, net.set_hidden_);
  take("set.bias", {k, s}, net.set_bias_);
  take("out", {k, h}, net.out_);
  take("nuisance", {k, s, t}, net.nuisance_);
  if (!status) return status.error();
  return net;
}

void PairNet::row_of(const Side& side, const PairSide& job, std::size_t set, bool with_set,
                     std::span<float> row) const {
  STARLING_CHECK(row.size() == row_width() && set < sets_ && job.profile.size() == profile_);
  STARLING_CHECK(job.type < static_cast<std::int32_t>(types_) &&
                 job.model < static_cast<std::int32_t>(models_));
  const std::size_t d = width_, h = hidden_;
  const bool knows_model = job.model >= 0 && job.config.size() == config_;
  const auto m = static_cast<std::size_t>(knows_model ? job.model : 0);
  const bool knows_type = knows_model && job.type >= 0;
  const auto t = static_cast<std::size_t>(knows_type ? job.type : 0);
  for (std::size_t k = 0; k < members_; ++k) {
    float* const out = row.data() + k * (d + h + 1);
    Eigen::Array<float, Eigen::Dynamic, 1, 0, kMostWidth, 1> x =
        Eigen::Array<float, Eigen::Dynamic, 1, 0, kMostWidth, 1>::Zero(index(d));
    for (std::size_t p = 0; p < profile_; ++p) {
      const float value = (job.profile[p] - profile_mean_[p]) * profile_scale_[p];
      x += std::clamp(value, -kMostProfile, kMostProfile) *
           ConstArray(&side.profile[(k * profile_ + p) * d], index(d));
    }
    float bias = with_set ? set_bias_[k * sets_ + set] : 0;
    if (knows_model) {
      x += ConstArray(&side.model[(k * models_ + m) * d], index(d));
      for (std::size_t c = 0; c < config_; ++c) {
        const float value =
            (job.config[c] - config_center_[m * config_ + c]) * config_scale_[m * config_ + c];
        x += std::clamp(value, -2.0F, 2.0F) *
             ConstArray(&side.slope[((k * models_ + m) * config_ + c) * d], index(d));
      }
      bias += side.model_bias[(k * sets_ + set) * models_ + m];
    }
    if (knows_type) {
      x += ConstArray(&side.type[(k * types_ + t) * d], index(d));
      bias += side.type_bias[(k * sets_ + set) * types_ + t];
    }
    bias += (x * ConstArray(&side.linear[(k * sets_ + set) * d], index(d))).sum();
    Array(out, index(d)) = x * (1 + ConstArray(&side.film[(k * sets_ + set) * d], index(d)));
    Array hidden(out + d, index(h));
    if (with_set) {
      hidden = ConstArray(&set_hidden_[(k * sets_ + set) * h], index(h));
    } else {
      hidden.setZero();
    }
    for (std::size_t i = 0; i < d; ++i)
      hidden += x[index(i)] * ConstArray(&side.hidden[(k * d + i) * h], index(h));
    out[d + h] = bias;
  }
}

void PairNet::victim(const PairSide& job, std::size_t set, std::span<float> row) const {
  row_of(victim_, job, set, true, row);
}

void PairNet::aggressor(const PairSide& job, std::size_t set, std::span<float> row) const {
  row_of(aggressor_, job, set, false, row);
}

void PairNet::log_slowdown(std::span<const float> victim, std::span<const float> aggressor,
                           std::span<float> out) const {
  const std::size_t d = width_, h = hidden_, w = d + h + 1;
  for (std::size_t k = 0; k < members_; ++k) {
    const float* const v = victim.data() + k * w;
    const float* const o = aggressor.data() + k * w;
    Eigen::Array<float, Eigen::Dynamic, 1, 0, kMostWidth, 1> hidden =
        (ConstArray(v + d, index(h)) + ConstArray(o + d, index(h))).tanh();
    const float t = v[d + h] + o[d + h] +
                    (ConstArray(v, index(d)) * ConstArray(o, index(d))).sum() +
                    (hidden * ConstArray(&out_[k * h], index(h))).sum();
    out[k] = t > 20 ? t : std::log1p(std::exp(t));
  }
}

double PairNet::nuisance(std::int32_t type, std::size_t set) const {
  if (type < 0) return 1;
  double sum = 0;
  for (std::size_t k = 0; k < members_; ++k)
    sum += static_cast<double>(
        std::exp(nuisance_[(k * sets_ + set) * types_ + static_cast<std::size_t>(type)]));
  return sum / static_cast<double>(members_);
}

}  // namespace starling
