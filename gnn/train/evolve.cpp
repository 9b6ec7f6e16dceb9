// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/evolve.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/rng.h"

namespace starling {
namespace {

using Vector = std::vector<double>;

/// Parts of the weights as one vector.
class Genes {
 public:
  static Result<Genes> of(const NetTraining& training, const Weights& weights,
                          const std::vector<std::string>& names) {
    Genes genes;
    for (const std::string& name : names) {
      if (Status s = check_tensor(training, weights, name); !s.ok()) return s.error();
      const auto part = std::ranges::find(training.parts, name, &TensorPart::name);
      if (part != training.parts.end()) {
        const std::size_t size = weights.tensors.at(part->tensor).values.size();
        if (size < part->first + part->size)
          return Error{Errc::invalid,
                       "evolve: " + part->tensor + " has " + std::to_string(size) + " values"};
        genes.parts_.push_back({part->tensor, part->first, part->size});
      } else {
        genes.parts_.push_back({name, 0, weights.tensors.at(name).values.size()});
      }
    }
    return genes;
  }
  [[nodiscard]] Vector read(const Weights& weights) const {
    Vector out;
    for (const Part& part : parts_) {
      const auto values = std::span(weights.tensors.at(part.tensor).values);
      for (const float value : values.subspan(part.first, part.size)) out.push_back(value);
    }
    return out;
  }
  [[nodiscard]] Weights with(const Weights& weights, const Vector& genes) const {
    Weights out = weights;
    std::size_t i = 0;
    for (const Part& part : parts_) {
      const auto values = std::span(out.tensors.at(part.tensor).values);
      for (float& value : values.subspan(part.first, part.size))
        value = static_cast<float>(genes[i++]);
    }
    return out;
  }

  /// Which are told of other agents.
  [[nodiscard]] std::vector<bool> of_others(const NetTraining& training) const {
    std::vector<bool> out;
    for (const Part& part : parts_) {
      for (std::size_t k = part.first; k < part.first + part.size; ++k) {
        out.push_back(std::ranges::any_of(training.parts, [&](const TensorPart& known) {
          return known.of_others && known.tensor == part.tensor && k >= known.first &&
                 k < known.first + known.size;
        }));
      }
    }
    return out;
  }

 private:
  struct Part {
    std::string tensor;
    std::size_t first = 0, size = 0;
  };
  std::vector<Part> parts_;
};

/// Where the search is, and Adam (Kingma and Ba 2015) on a plain vector. Every number is rounded to
/// what a weights file holds, so a search that went on from a file is the one that never stopped.
class Search {
 public:
  /// Generations from `averaged` on count for result().
  Search(Vector start, std::uint32_t averaged)
      : x_(std::move(start)),
        mean_(x_.size()),
        square_(x_.size()),
        sum_(x_.size()),
        averaged_(averaged) {}
  [[nodiscard]] const Vector& x() const { return x_; }
  [[nodiscard]] std::uint32_t generation() const { return generation_; }
  [[nodiscard]] Vector result() const {
    if (generation_ <= averaged_) return x_;
    Vector out = sum_;
    for (double& value : out) value /= generation_ - averaged_;
    return out;
  }
  void step(const Vector& gradient, double rate) {
    ++generation_;
    const double t = generation_;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      mean_[i] = 0.8 * mean_[i] + 0.2 * gradient[i];
      square_[i] = 0.98 * square_[i] + 0.02 * gradient[i] * gradient[i];
      const double m = mean_[i] / (1 - std::pow(0.8, t));
      const double v = square_[i] / (1 - std::pow(0.98, t));
      x_[i] -= rate * m / (std::sqrt(v) + 1e-8);
    }
    if (generation_ > averaged_)
      for (std::size_t i = 0; i < x_.size(); ++i) sum_[i] += static_cast<float>(x_[i]);
    for (Vector* const vector : {&x_, &mean_, &square_, &sum_})
      for (double& value : *vector) value = static_cast<float>(value);
  }
  [[nodiscard]] Weights state() const {
    Weights out;
    const auto put = [&](const char* name, const Vector& values) {
      Tensor& tensor = out.tensors[name];
      tensor.shape = {static_cast<std::uint32_t>(values.size())};
      for (const double value : values) tensor.values.push_back(static_cast<float>(value));
    };
    put("x", x_);
    put("mean", mean_);
    put("square", square_);
    put("sum", sum_);
    out.notes["generations"] = std::to_string(generation_);
    return out;
  }
  Status restore(const Weights& state) {
    const auto size = static_cast<std::uint32_t>(x_.size());
    const auto get = [&](const char* name, Vector& values) -> Status {
      const auto tensor = state.tensor(name, std::span(&size, 1));
      if (!tensor) return tensor.error();
      values.assign(tensor.value()->values.begin(), tensor.value()->values.end());
      return done();
    };
    if (Status s = get("x", x_); !s.ok()) return s;
    if (Status s = get("mean", mean_); !s.ok()) return s;
    if (Status s = get("square", square_); !s.ok()) return s;
    if (Status s = get("sum", sum_); !s.ok()) return s;
    generation_ = static_cast<std::uint32_t>(std::stoul(state.note("generations", "0")));
    return done();
  }

 private:
  Vector x_, mean_, square_, sum_;
  std::uint32_t generation_ = 0, averaged_;
};

}  // namespace

Status check_tensor(const NetTraining& training, const Weights& weights, const std::string& name) {
  std::string all;
  for (const auto& [tensor, values] : weights.tensors) {
    if (name == tensor) return done();
    all += (all.empty() ? "" : ", ") + tensor;
    for (const TensorPart& part : training.parts) {
      if (part.tensor != tensor) continue;
      if (name == part.name) return done();
      all += ", " + part.name;
    }
  }
  return Error{Errc::invalid,
               "evolve: the weights have no tensor '" + name + "'; there are " + all};
}

Result<Weights> evolve(const TrainableSystem& system, const Weights& start,
                       std::span<const Scenario> scenarios, std::span<const double> base_jct,
                       const EvolveOptions& options) {
  const NetTraining& training = system.training;
  const auto genes =
      Genes::of(training, start, options.tensors.empty() ? training.evolved : options.tensors);
  if (!genes) return genes.error();
  const auto averaged = static_cast<std::uint32_t>(
      std::lround((1 - std::clamp(options.average, 0.0, 1.0)) * options.generations));
  Search search(genes.value().read(start), averaged);
  const std::size_t size = search.x().size();
  ProcessGroup alone;
  ProcessGroup& processes = options.processes == nullptr ? alone : *options.processes;
  const auto left_off = options.progress.read(processes);
  if (!left_off) return left_off.error();
  if (left_off.value()) {
    if (Status s = search.restore(*left_off.value()); !s.ok()) return s.error();
  }
  // Runs of one agent say nothing of what a step there does.
  std::vector<bool> still(size, false);
  if (std::ranges::none_of(scenarios, [](const Scenario& s) { return s.agents > 1; }))
    still = genes.value().of_others(training);
  if (std::ranges::all_of(still, [](bool b) { return b; }))
    return Error{Errc::invalid,
                 "evolve: only what is told of other agents would change, and no run has several"};
  Rng rng(options.seed, 0xe5);
  for (std::uint32_t g = 0; g < options.generations; ++g) {
    std::vector<std::size_t> which(scenarios.size());
    std::iota(which.begin(), which.end(), std::size_t{0});
    for (std::size_t i = which.size(); i > 1; --i)
      std::swap(which[i - 1], which[rng.below(static_cast<std::uint32_t>(i))]);
    which.resize(std::min<std::size_t>(options.runs, which.size()));
    std::vector<Vector> steps(options.pairs, Vector(size));
    for (Vector& step : steps) {
      for (std::size_t i = 0; i < size; ++i) {
        const double value = rng.normal() * options.sigma;
        if (!still[i]) step[i] = value;
      }
    }
    if (g < search.generation()) continue;

    const std::size_t per = which.size();
    std::vector<double> logs(std::size_t{2} * options.pairs * per);
    const auto ran =
        for_all(processes, options.threads, logs.size(), [&](std::size_t i) -> Result<Row> {
          const std::size_t scenario = which[i % per], side = i / per;
          Vector at = search.x();
          for (std::size_t k = 0; k < at.size(); ++k)
            at[k] += (side % 2 == 0 ? 1 : -1) * steps[side / 2][k];
          const auto run =
              run_scenario(system.system, scenarios[scenario], genes.value().with(start, at));
          if (!run) return run.error();
          return Row{std::log(figures(run.value()).avg_jct_s / base_jct[scenario])};
        });
    if (!ran) return ran.error();
    for (std::size_t i = 0; i < logs.size(); ++i) logs[i] = ran.value()[i].front();
    Vector gradient(size);
    for (std::size_t p = 0; p < options.pairs; ++p) {
      double difference = 0;
      for (std::size_t r = 0; r < per; ++r)
        difference += std::clamp(logs[2 * p * per + r] - logs[(2 * p + 1) * per + r], -options.cut,
                                 options.cut);
      for (std::size_t k = 0; k < size; ++k)
        gradient[k] += difference * steps[p][k] / static_cast<double>(options.pairs * per);
    }
    const double part = static_cast<double>(g) / options.generations;
    search.step(gradient, options.rate * (1 - 0.7 * part));
    const double mean =
        std::accumulate(logs.begin(), logs.end(), 0.0) / static_cast<double>(logs.size());
    if (Status s = options.progress.write(processes, search.state()); !s.ok()) return s.error();
    if (options.report) options.report(g, mean);
  }
  return genes.value().with(start, search.result());
}

}  // namespace starling
