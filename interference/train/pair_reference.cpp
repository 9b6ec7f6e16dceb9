// SPDX-License-Identifier: Apache-2.0
#include "interference/train/pair_reference.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include "interference/train/as_torch.h"

namespace starling {
namespace {

struct Job {
  at::Tensor x, bias;  // [members, width], [members]
};

}  // namespace

std::vector<float> reference_log_slowdown(const Weights& weights, const std::string& prefix,
                                          const PairSide& victim, const PairSide& other,
                                          std::int64_t set) {
  const c10::InferenceMode guard;
  const auto get = [&](const std::string& name) {
    return as_torch(weights.tensors.at(prefix + name));
  };
  const auto job = [&](const std::string& s, const PairSide& side) {
    const auto p = static_cast<std::int64_t>(side.profile.size());
    const at::Tensor profile = at::clamp(
        (as_torch(side.profile, {p}) - get("profile.mean")) * get("profile.scale"), -6, 6);
    Job out{at::matmul(profile, get(s + "profile")), at::zeros({})};
    if (side.model >= 0) {
      const auto c = static_cast<std::int64_t>(side.config.size());
      const at::Tensor config =
          at::clamp((as_torch(side.config, {c}) - get("config.center").select(0, side.model)) *
                        get("config.scale").select(0, side.model),
                    -2, 2);
      out.x = out.x + get(s + "model").select(1, side.model) +
              at::matmul(config, get(s + "slope").select(1, side.model));
      out.bias = out.bias + get(s + "model_bias").select(1, set).select(1, side.model);
      if (side.type >= 0) {
        out.x = out.x + get(s + "type").select(1, side.type);
        out.bias = out.bias + get(s + "type_bias").select(1, set).select(1, side.type);
      }
    }
    out.bias = out.bias + (get(s + "linear").select(1, set) * out.x).sum(1);
    return out;
  };
  const Job v = job("v.", victim), o = job("o.", other);
  const at::Tensor products =
      (v.x * (1 + get("v.film").select(1, set)) * o.x * (1 + get("o.film").select(1, set))).sum(1);
  const at::Tensor hidden = at::tanh(at::matmul(v.x.unsqueeze(1), get("v.hidden")).squeeze(1) +
                                     at::matmul(o.x.unsqueeze(1), get("o.hidden")).squeeze(1) +
                                     get("set.hidden").select(1, set));
  const at::Tensor t =
      get("set.bias").select(1, set) + v.bias + o.bias + products + (hidden * get("out")).sum(1);
  const at::Tensor slow = at::softplus(t).contiguous();
  return {slow.data_ptr<float>(), slow.data_ptr<float>() + slow.numel()};
}

}  // namespace starling
