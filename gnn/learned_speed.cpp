#include "gnn/learned_speed.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gnn/speed_features.h"
#include "nets/mlp.h"

namespace starling {
namespace {

class LearnedSpeed final : public SpeedModel {
 public:
  LearnedSpeed(const Topology& topology, Mlp mlp, double rmse)
      : topology_(topology), mlp_(std::move(mlp)), rmse_(rmse) {}

  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    if (placement.empty()) return {};
    const auto features = speed_features(topology_, job, placement, beside);
    float relative = 1;
    mlp_.run(features, 1, std::span(&relative, 1));
    // Weights are finite, but sums of large ones need not be; and no job stands still.
    if (!std::isfinite(relative)) return {1, 1};
    return {std::clamp(static_cast<double>(relative), 0.01, 1.0), rmse_};
  }

 private:
  Topology topology_;
  mutable Mlp mlp_;  // its buffers change, its answers do not
  double rmse_;
};

}  // namespace

Result<std::unique_ptr<SpeedModel>> make_learned_speed(const Topology& topology,
                                                       const Weights& weights) {
  const std::string version = weights.note("speed_features");
  if (version != kSpeedFeaturesVersion) {
    return Error{Errc::invalid,
                 version.empty()
                     ? "these weights are no speed model; train one with starling-train speed"
                     : "the speed model was trained on features of version " +
                           version.substr(0, 32) + "; this program has version " +
                           kSpeedFeaturesVersion + ": train it again"};
  }
  auto mlp = Mlp::make(weights);
  if (!mlp) return mlp.error();
  if (mlp.value().inputs() != kSpeedFeatures || mlp.value().outputs() != 1) {
    return Error{Errc::invalid, "the speed model takes " + std::to_string(mlp.value().inputs()) +
                                    " inputs and gives " + std::to_string(mlp.value().outputs()) +
                                    "; it should take " + std::to_string(kSpeedFeatures) +
                                    " and give 1"};
  }
  const double rmse = std::strtod(weights.note("validation_rmse", "0").c_str(), nullptr);
  return std::unique_ptr<SpeedModel>(std::make_unique<LearnedSpeed>(
      topology, std::move(mlp).value(), std::isfinite(rmse) ? std::clamp(rmse, 0.0, 1.0) : 1.0));
}

}  // namespace starling
