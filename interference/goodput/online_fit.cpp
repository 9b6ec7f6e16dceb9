// SPDX-License-Identifier: Apache-2.0
#include "interference/goodput/online_fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "interference/goodput/noise_scale.h"

namespace starling {
namespace {

enum At : std::size_t {
  kCompute,
  kServer,
  kServerMore,
  kRack,
  kRackMore,
  kNetwork,
  kNetworkMore,
  kCrowd,
  kGamma,
  kBend
};

// In units of the computing of the asked batch. What exchanges cost is Pollux' optimism, but for so
// much that logarithms have a place to begin at.
constexpr OnlineFit::Parameters kNothing = {-2.3, -4, -5.3, -4, -5.3, -4, -5.3, -5.3, 0, 0};
constexpr OnlineFit::Parameters kDoubt = {1, 2, 2, 2, 2, 2, 2, 2, 0.7, 1.5};
constexpr double kOfAKind = 0.25;  // of that doubt, of a job whose kind has been measured
constexpr double kNoise = 0.03;  // deviation of a measured log pace, and of the form from the truth
constexpr double kLeast = -12, kMost = 7;  // of a parameter
constexpr int kSteps = 40;
constexpr double kSettled = 1e-9, kNudge = 1e-5;

double norm(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += error * error;
  return sum;
}

bool same(const StepShape& a, const StepShape& b) {
  return a.local_batch == b.local_batch && a.accumulation == b.accumulation &&
         a.replicas == b.replicas && a.servers == b.servers && a.tier == b.tier;
}

}  // namespace

OnlineFit::OnlineFit(const StepShape& asked)
    : asked_(asked), prior_(kNothing), deviation_(kDoubt), at_(kNothing) {}

OnlineFit::OnlineFit(const StepShape& asked, const Parameters& like)
    : asked_(asked), prior_(like), deviation_(kDoubt), at_(like) {
  for (double& deviation : deviation_) deviation *= kOfAKind;
}

StepTime OnlineFit::time_of(const Parameters& at) const {
  const auto value = [&](At which) { return std::exp(at[which]); };
  StepTime time;
  time.compute_s = value(kCompute);
  time.sample_s = 1 / asked_.local_batch;
  time.server = {value(kServer), value(kServerMore)};
  time.rack = {std::max(time.server.two_s, value(kRack)),
               std::max(time.server.growth_s, value(kRackMore))};
  time.network = {std::max(time.rack.two_s, value(kNetwork)),
                  std::max(time.rack.growth_s, value(kNetworkMore))};
  time.crowd_s = value(kCrowd);
  time.bend = 1 / (1 + value(kBend));
  time.gamma = std::min(1 + value(kGamma), 10.0);
  return time;
}

double OnlineFit::log_pace(const Parameters& at, const StepShape& shape, double type_speed) const {
  StepTime time = time_of(at);
  const double asked_s = time.step_s(asked_);
  time.compute_s /= type_speed;
  time.sample_s /= type_speed;
  double found = std::log(shape.batch() / asked_.batch()) + std::log(asked_s / time.step_s(shape));
  if (noise_ > 0) found += std::log(statistical_efficiency(noise_, asked_.batch(), shape.batch()));
  return found;
}

std::vector<double> OnlineFit::errors(const Parameters& at) const {
  std::vector<double> all;
  all.reserve(samples_.size() + kParameters);
  for (const Sample& sample : samples_)
    all.push_back((log_pace(at, sample.shape, sample.type_speed) - sample.log_pace) *
                  std::sqrt(sample.weight) / kNoise);
  for (std::size_t i = 0; i < kParameters; ++i) all.push_back((at[i] - prior_[i]) / deviation_[i]);
  return all;
}

void OnlineFit::add(const StepShape& shape, double type_speed, double pace) {
  if (!(pace > 0) || !(type_speed > 0) || !std::isfinite(pace) || !std::isfinite(type_speed))
    return;
  due_ = true;
  const double log_pace = std::log(pace);
  for (Sample& known : samples_) {
    if (!same(known.shape, shape) || known.type_speed != type_speed) continue;
    known.weight = std::min(known.weight + 1, kMostWeight);
    known.log_pace += (log_pace - known.log_pace) / known.weight;
    return;
  }
  if (samples_.size() == kMostSamples)
    samples_.erase(
        std::min_element(samples_.begin(), samples_.end(),
                         [](const Sample& a, const Sample& b) { return a.weight < b.weight; }));
  samples_.push_back({shape, type_speed, log_pace, 1});
}

void OnlineFit::fit() {
  using Matrix = Eigen::Matrix<double, kParameters, kParameters>;
  using Vector = Eigen::Matrix<double, kParameters, 1>;
  due_ = false;
  std::vector<double> now = errors(at_);
  double damping = 1e-2;
  for (int step = 0; step < kSteps; ++step) {
    Eigen::Matrix<double, Eigen::Dynamic, kParameters> slope(now.size(), kParameters);
    for (std::size_t i = 0; i < kParameters; ++i) {
      Parameters moved = at_;
      moved[i] += kNudge;
      const std::vector<double> then = errors(moved);
      for (std::size_t row = 0; row < now.size(); ++row)
        slope(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(i)) =
            (then[row] - now[row]) / kNudge;
    }
    const Eigen::Map<const Eigen::VectorXd> error(now.data(),
                                                  static_cast<Eigen::Index>(now.size()));
    Matrix normal = slope.transpose() * slope;
    normal.diagonal() *= 1 + damping;
    const Vector by = normal.ldlt().solve(-(slope.transpose() * error));
    Parameters next = at_;
    for (std::size_t i = 0; i < kParameters; ++i)
      next[i] = std::clamp(at_[i] + by[static_cast<Eigen::Index>(i)], kLeast, kMost);
    std::vector<double> then = errors(next);
    const double gain = norm(now) - norm(then);
    if (!(gain > 0)) {
      damping *= 8;
      if (damping > 1e6) return;
      continue;
    }
    at_ = next;
    now = std::move(then);
    damping = std::max(damping / 4, 1e-6);
    if (gain < kSettled) return;
  }
}

double OnlineFit::pace(const StepShape& shape, double type_speed) const {
  return std::exp(std::clamp(log_pace(at_, shape, type_speed), -20.0, 20.0));
}

void OnlineFit::restore(const Parameters& at, std::vector<Sample> samples) {
  for (std::size_t i = 0; i < kParameters; ++i) at_[i] = std::clamp(at[i], kLeast, kMost);
  samples_ = std::move(samples);
  due_ = true;
}

}  // namespace starling
