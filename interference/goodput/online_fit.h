// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "interference/goodput/step_time.h"

namespace starling {

/// What a job's pace is believed to be with any number of GPUs, anywhere, by any batch, from what
/// it was measured to be: Pollux' fit of theta while the job runs (OSDI 2021, section 4.1).
///
/// Pace is progress per time in units of the shape that the job asks for alone, so StepTime's
/// constants are fitted up to a factor: sample_s times the asked local batch is 1. Fitted are the
/// logarithms of the other constants, of gamma - 1 and of the odds of bend, by the sum of squared
/// errors of log pace plus the squared distances from a prior, in their deviations (maximum a
/// posteriori; Levenberg-Marquardt). The prior of a job of which nothing is known is Pollux':
/// exchanges cost next to nothing until they are measured, so that larger sizes are tried. What was
/// measured nearer tells what is farther, of which nothing was: no tier is believed to be cheaper
/// than a nearer one.
class OnlineFit {
 public:
  static constexpr std::size_t kParameters = 10, kMostSamples = 32;
  using Parameters = std::array<double, kParameters>;
  /// A shape, and how fast it was.
  struct Sample {
    StepShape shape;
    double type_speed = 1;  ///< of computing on its slowest GPU, in that of the asked shape's GPUs
    double log_pace = 0;
    double weight = 1;  ///< measurements in the mean, at most kMostWeight
  };
  static constexpr double kMostWeight = 16;

  explicit OnlineFit(const StepShape& asked);
  /// With what was fitted to another job of its kind as the prior, and less doubt.
  OnlineFit(const StepShape& asked, const Parameters& like);

  /// Gradient noise scale, in samples; 0: unknown, and every sample makes as much progress.
  void set_noise(double noise) noexcept { noise_ = noise; }
  /// A measured pace, above 0. Of a shape that was measured before the mean of the newest counts.
  /// Of more shapes than kMostSamples the one measured least goes.
  void add(const StepShape& shape, double type_speed, double pace);
  /// Works in what add() brought. Less than a millisecond.
  void fit();
  [[nodiscard]] bool is_due() const noexcept { return due_; }

  /// As believed since the last fit().
  [[nodiscard]] double pace(const StepShape& shape, double type_speed = 1) const;
  /// The step behind that, in units in which computing a sample of the asked local batch takes its
  /// part of 1, on the asked shape's GPUs.
  [[nodiscard]] StepTime time() const { return time_of(at_); }
  [[nodiscard]] std::size_t distinct() const noexcept { return samples_.size(); }

  // For memory.
  [[nodiscard]] const StepShape& asked() const noexcept { return asked_; }
  [[nodiscard]] double noise() const noexcept { return noise_; }
  [[nodiscard]] const Parameters& parameters() const noexcept { return at_; }
  [[nodiscard]] const std::vector<Sample>& samples() const noexcept { return samples_; }
  /// Whatever the numbers are, pace() is finite and above 0.
  void restore(const Parameters& at, std::vector<Sample> samples);

 private:
  [[nodiscard]] StepTime time_of(const Parameters& at) const;
  [[nodiscard]] double log_pace(const Parameters& at, const StepShape& shape,
                                double type_speed) const;
  /// Of samples and prior, each in its deviations.
  [[nodiscard]] std::vector<double> errors(const Parameters& at) const;

  StepShape asked_;
  Parameters prior_, deviation_, at_;
  double noise_ = 0;
  std::vector<Sample> samples_;
  bool due_ = false;
};

}  // namespace starling
