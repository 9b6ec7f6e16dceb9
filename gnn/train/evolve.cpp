#include "gnn/train/evolve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace starling {
namespace {

using Vector = std::vector<double>;

class Genes {
 public:
  static Result<Genes> of(const Weights& weights, const std::vector<std::string>& names) {
    Genes genes;
    for (const std::string& name : names) {
      const auto tensor = weights.tensors.find(name);
      if (tensor == weights.tensors.end())
        return Error{Errc::invalid, "evolve: the weights have no tensor '" + name + "'"};
      genes.names_.push_back(name);
      genes.size_ += tensor->second.values.size();
    }
    return genes;
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Vector read(const Weights& weights) const {
    Vector out;
    for (const std::string& name : names_) {
      const auto& values = weights.tensors.at(name).values;
      out.insert(out.end(), values.begin(), values.end());
    }
    return out;
  }
  [[nodiscard]] Weights with(const Weights& weights, const Vector& genes) const {
    Weights out = weights;
    std::size_t i = 0;
    for (const std::string& name : names_) {
      for (float& value : out.tensors.at(name).values) value = static_cast<float>(genes[i++]);
    }
    return out;
  }

 private:
  std::vector<std::string> names_;
  std::size_t size_ = 0;
};

/// Adam (Kingma and Ba 2015) on a plain vector.
class Adam {
 public:
  explicit Adam(std::size_t size) : mean_(size), square_(size) {}
  void step(Vector& x, const Vector& gradient, double rate) {
    ++t_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      mean_[i] = 0.8 * mean_[i] + 0.2 * gradient[i];
      square_[i] = 0.98 * square_[i] + 0.02 * gradient[i] * gradient[i];
      const double m = mean_[i] / (1 - std::pow(0.8, t_));
      const double v = square_[i] / (1 - std::pow(0.98, t_));
      x[i] -= rate * m / (std::sqrt(v) + 1e-8);
    }
  }

 private:
  Vector mean_, square_;
  double t_ = 0;
};

}  // namespace

Result<Weights> evolve(const Weights& start, std::span<const Scenario> scenarios,
                       std::span<const double> base_jct, const EvolveOptions& options) {
  const auto genes = Genes::of(start, options.tensors);
  if (!genes) return genes.error();
  Vector x = genes.value().read(start);
  Adam adam(x.size());
  Peers alone;
  Peers& peers = options.peers == nullptr ? alone : *options.peers;
  Rng rng(options.seed, 0xe5);
  for (std::uint32_t g = 0; g < options.generations; ++g) {
    std::vector<std::size_t> which(scenarios.size());
    std::iota(which.begin(), which.end(), std::size_t{0});
    for (std::size_t i = which.size(); i > 1; --i)
      std::swap(which[i - 1], which[rng.below(static_cast<std::uint32_t>(i))]);
    which.resize(std::min<std::size_t>(options.runs, which.size()));
    std::vector<Vector> steps(options.pairs, Vector(x.size()));
    for (Vector& step : steps)
      for (double& value : step) value = rng.normal() * options.sigma;

    const std::size_t per = which.size();
    std::vector<double> logs(std::size_t{2} * options.pairs * per);
    const auto ran =
        for_all(peers, options.threads, logs.size(), [&](std::size_t i) -> Result<Row> {
          const std::size_t scenario = which[i % per], side = i / per;
          Vector at = x;
          for (std::size_t k = 0; k < at.size(); ++k)
            at[k] += (side % 2 == 0 ? 1 : -1) * steps[side / 2][k];
          const auto run = run_scenario(scenarios[scenario], genes.value().with(start, at));
          if (!run) return run.error();
          return Row{std::log(figures(run.value()).avg_jct_s / base_jct[scenario])};
        });
    if (!ran) return ran.error();
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = ran.value()[i].front();
    Vector gradient(x.size());
    for (std::size_t p = 0; p < options.pairs; ++p) {
      double difference = 0;
      for (std::size_t r = 0; r < per; ++r)
        difference += std::clamp(logs[2 * p * per + r] - logs[(2 * p + 1) * per + r], -options.cut,
                                 options.cut);
      for (std::size_t k = 0; k < x.size(); ++k)
        gradient[k] += difference * steps[p][k] / static_cast<double>(options.pairs * per);
    }
    const double part = static_cast<double>(g) / options.generations;
    adam.step(x, gradient, options.rate * (1 - 0.7 * part));
    const double mean =
        std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    if (options.progress) options.progress(g, mean);
  }
  return genes.value().with(start, x);
}

}  // namespace starling
