// SPDX-License-Identifier: Apache-2.0
#include "interference/train/pair_trainer.h"

#include <torch/nn/functional/activation.h>
#include <torch/optim/adam.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "base/rng.h"

namespace starling {
namespace {

using Index = std::int64_t;
using Shape = std::vector<Index>;

/// Parameters by the name that PairNet reads, from our own generator: torch's would change with its
/// version. Each has a prior.
class Parameters {
 public:
  explicit Parameters(std::uint64_t seed) : rng_(seed, 0x9a125) {}

  torch::Tensor& add(const std::string& name, const Shape& shape, double scale, double prior) {
    torch::Tensor value = torch::empty(shape);
    float* const data = value.data_ptr<float>();
    for (Index i = 0; i < value.numel(); ++i) data[i] = static_cast<float>(rng_.normal() * scale);
    value.set_requires_grad(true);
    priors_[name] = prior;
    return tensors_[name] = value;
  }
  torch::Tensor& operator[](const std::string& name) { return tensors_.at(name); }
  [[nodiscard]] std::vector<torch::Tensor> all() const {
    std::vector<torch::Tensor> out;
    for (const auto& [name, tensor] : tensors_) out.push_back(tensor);
    return out;
  }
  [[nodiscard]] torch::Tensor penalty() const {
    torch::Tensor sum = torch::zeros({});
    for (const auto& [name, tensor] : tensors_)
      sum = sum + priors_.at(name) * tensor.square().sum();
    return sum;
  }
  [[nodiscard]] const std::map<std::string, torch::Tensor>& tensors() const { return tensors_; }

 private:
  Rng rng_;
  std::map<std::string, torch::Tensor> tensors_;
  std::map<std::string, double> priors_;
};

struct Sizes {
  Index members = 0, sets = 0, types = 0, models = 0, config = 0, profile = 0, width = 0,
        hidden = 0;
};

void add_side(Parameters& p, const std::string& s, const Sizes& n, const PairTrainOptions& o) {
  p.add(s + "profile", {n.members, n.profile, n.width}, 0.1, 5 * o.prior);
  p.add(s + "model", {n.members, n.models, n.width}, 0.3, o.prior);
  p.add(s + "slope", {n.members, n.models, n.config, n.width}, 0.1, o.prior);
  p.add(s + "type", {n.members, n.types, n.width}, 0.05, o.own_prior);
  p.add(s + "film", {n.members, n.sets, n.width}, 0.05, o.prior);
  p.add(s + "linear", {n.members, n.sets, n.width}, 0.05, o.prior);
  p.add(s + "hidden", {n.members, n.width, n.hidden},
        1 / std::sqrt(3.0 * static_cast<double>(n.width)), o.prior);
  p.add(s + "all_bias", {n.members, 1, n.types}, 0.05, 0.1 * o.prior);
  p.add(s + "type_bias", {n.members, n.sets, n.types}, 0.02, 0.3 * o.own_prior);
  p.add(s + "model_bias", {n.members, n.sets, n.models}, 0.02, 0.3 * o.own_prior);
}

torch::Tensor tensor_of(const std::vector<float>& values, const Shape& shape) {
  torch::Tensor out = torch::empty(shape);
  std::copy(values.begin(), values.end(), out.data_ptr<float>());
  return out;
}

/// Types as one side sees them: x [members, types, width] and biases [members, sets, types].
struct Seen {
  torch::Tensor x, bias;
};

Seen seen_from(Parameters& p, const std::string& s, const torch::Tensor& profile,
               const torch::Tensor& config, const torch::Tensor& model,
               const torch::Tensor& model_known, const torch::Tensor& type_known) {
  const torch::Tensor slopes =
      (p[s + "slope"].index_select(1, model) * config.unsqueeze(0).unsqueeze(3)).sum(2);
  const torch::Tensor family = p[s + "model"].index_select(1, model) + slopes;
  const torch::Tensor x = torch::matmul(profile, p[s + "profile"]) +
                          family * model_known.unsqueeze(1) +
                          p[s + "type"] * type_known.unsqueeze(1);
  torch::Tensor bias = (p[s + "all_bias"] + p[s + "type_bias"]) * type_known +
                       p[s + "model_bias"].index_select(2, model) * model_known;
  bias = bias + torch::matmul(p[s + "linear"], x.transpose(1, 2));
  return {x, bias};
}

/// Predicted speeds of every pair [members, sets, types, types]; see nets/pair_net.h.
torch::Tensor speeds(Parameters& p, const Seen& v, const Seen& o, const torch::Tensor& type_known) {
  const torch::Tensor xs = v.x.unsqueeze(1) * (1 + p["v.film"].unsqueeze(2));
  const torch::Tensor zs = o.x.unsqueeze(1) * (1 + p["o.film"].unsqueeze(2));
  const torch::Tensor products = torch::matmul(xs, zs.transpose(2, 3));
  const torch::Tensor hv = torch::matmul(v.x, p["v.hidden"]).unsqueeze(1) +
                           p["set.hidden"].unsqueeze(2);       // [k, s, t, h]
  const torch::Tensor ho = torch::matmul(o.x, p["o.hidden"]);  // [k, t, h]
  const torch::Tensor hidden =
      torch::tanh(hv.unsqueeze(3) + ho.unsqueeze(1).unsqueeze(2));  // [k, s, t, t, h]
  const Index members = hidden.size(0);
  const torch::Tensor learned =
      torch::matmul(hidden, p["out"].view({members, 1, 1, -1, 1})).squeeze(4);
  const torch::Tensor t = p["set.bias"].unsqueeze(2).unsqueeze(3) + v.bias.unsqueeze(3) +
                          o.bias.unsqueeze(2) + products + learned;
  return torch::exp((p["nuisance"] * type_known).unsqueeze(3) - torch::nn::functional::softplus(t));
}

Tensor tensor_from(const torch::Tensor& tensor) {
  const torch::Tensor values = tensor.detach().contiguous();
  Tensor out;
  for (const Index size : values.sizes()) out.shape.push_back(static_cast<std::uint32_t>(size));
  out.values.assign(values.data_ptr<float>(), values.data_ptr<float>() + values.numel());
  return out;
}

}  // namespace

void train_pairs(const PairData& data, const std::vector<bool>& used,
                 const PairTrainOptions& options, const std::string& prefix, Weights& weights,
                 const std::function<void(std::uint32_t, double)>& progress) {
  torch::set_num_threads(1);  // sums over threads would come in another order each time
  const PairTable table = pair_table(data);
  const Sizes n{static_cast<Index>(options.members),    static_cast<Index>(data.sets.size()),
                static_cast<Index>(data.types.size()),  static_cast<Index>(table.models.size()),
                static_cast<Index>(table.config_width), static_cast<Index>(table.profile_width),
                static_cast<Index>(options.width),      static_cast<Index>(options.hidden)};
  const torch::Tensor profile = tensor_of(table.scaled_profiles(), {n.types, n.profile});
  const torch::Tensor config = tensor_of(table.scaled_configs(), {n.types, n.config});
  torch::Tensor model = torch::empty({n.types}, torch::kLong);
  std::copy(table.model_of.begin(), table.model_of.end(), model.data_ptr<Index>());

  torch::Tensor target = torch::zeros({n.sets, n.types, n.types});
  torch::Tensor weight = torch::zeros_like(target);
  torch::Tensor clipped = torch::zeros_like(target);
  for (std::size_t i = 0; i < data.rows.size(); ++i) {
    if (!used.empty() && !used[i]) continue;
    const PairRow& row = data.rows[i];
    const Index at = (row.set * n.types + row.victim) * n.types + row.other;
    target.data_ptr<float>()[at] = row.speed;
    weight.data_ptr<float>()[at] = 1;
    clipped.data_ptr<float>()[at] = row.at_least ? 1 : 0;
  }

  Parameters p(options.seed);
  add_side(p, "v.", n, options);
  add_side(p, "o.", n, options);
  p.add("set.hidden", {n.members, n.sets, n.hidden}, 0.3, options.prior);
  p.add("set.bias", {n.members, n.sets}, 0.1, 0);
  p.add("out", {n.members, n.hidden}, 0.2 / std::sqrt(static_cast<double>(n.hidden)),
        options.prior);
  p.add("nuisance", {n.members, n.sets, n.types}, 0.001, options.nuisance_prior);
  torch::optim::Adam optimizer(p.all(), torch::optim::AdamOptions(options.rate));

  Rng rng(options.seed, 0xd309);
  const auto hide = [&] {  // [types] each: is the model known, is the type
    torch::Tensor model_known = torch::ones({n.types}), type_known = torch::ones({n.types});
    for (Index t = 0; t < n.types; ++t) {
      const double u = rng.uniform();
      if (u < options.unknown) model_known.data_ptr<float>()[t] = 0;
      if (u < 2 * options.unknown) type_known.data_ptr<float>()[t] = 0;
    }
    return std::pair(model_known, type_known);
  };
  const auto round2 = static_cast<float>(options.round * options.round);
  for (std::uint32_t epoch = 0; epoch < options.epochs; ++epoch) {
    const double done = static_cast<double>(epoch) / options.epochs;
    const double rate = options.rate * (1e-3 + 0.5 * (1 + std::cos(std::numbers::pi * done)));
    static_cast<torch::optim::AdamOptions&>(optimizer.param_groups()[0].options()).lr(rate);
    const auto [vm, vt] = hide();
    const auto [om, ot] = hide();
    optimizer.zero_grad();
    const Seen v = seen_from(p, "v.", profile, config, model, vm, vt);
    const Seen o = seen_from(p, "o.", profile, config, model, om, ot);
    torch::Tensor off = speeds(p, v, o, vt) - target;
    // What was clipped may be predicted above.
    off = off - clipped * torch::relu(off);
    const torch::Tensor loss =
        ((torch::sqrt(off.square() + round2) - options.round) * weight).sum() + p.penalty();
    loss.backward();
    optimizer.step();
    if (progress && (epoch % 50 == 49 || epoch + 1 == options.epochs))
      progress(epoch + 1, static_cast<double>(loss.item<float>()) / options.members);
  }

  const torch::NoGradGuard no_grad;
  for (const std::string side : {"v.", "o."}) p[side + "type_bias"].add_(p[side + "all_bias"]);
  for (const auto& [name, tensor] : p.tensors()) {
    if (name.find("all_bias") == std::string::npos)
      weights.tensors[prefix + name] = tensor_from(tensor);
  }
  table.save(prefix, weights);
}

}  // namespace starling
