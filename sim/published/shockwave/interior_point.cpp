// SPDX-License-Identifier: Apache-2.0
#include "sim/published/shockwave/interior_point.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace starling {
namespace {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;
using Array = Eigen::ArrayXd;

// As in ECOS 2.0: the point that is reached depends on them.
constexpr double kRegular = 7e-8;    // added to the diagonal of the linear systems, and left there
constexpr double kTolerance = 1e-8;  // of residuals and gap
constexpr double kSatisfied = 1e-6;  // by each row, scaled
constexpr double kBackOff = 0.99;    // of the way to the boundary
constexpr double kLongest = 0.999, kShortest = 1e-6, kLeastCentering = 1e-4;
constexpr int kMostIterations = 100, kRescalings = 3, kRefinements = 2;

/// The rows with all coefficients near 1, by which both sides are found again.
struct Scaled {
  Matrix rows;
  Vector high, cost;
  Array variables;  ///< what each was multiplied by

  explicit Scaled(const InequalityProgram& program) {
    const auto n = static_cast<Eigen::Index>(program.cost.size());
    const auto m = static_cast<Eigen::Index>(program.rows.size());
    rows = Matrix::Zero(m, n);
    high = Vector(m);
    for (Eigen::Index i = 0; i < m; ++i) {
      const InequalityProgram::Row& row = program.rows[static_cast<std::size_t>(i)];
      for (const auto& [variable, coefficient] : row.terms) rows(i, variable) = coefficient;
      high[i] = row.high;
    }
    cost = Eigen::Map<const Vector>(program.cost.data(), n);
    variables = Array::Ones(n);
    for (int k = 0; k < kRescalings; ++k) {
      const Array by_row = root(rows.cwiseAbs().rowwise().maxCoeff());
      const Array by_column = root(rows.cwiseAbs().colwise().maxCoeff().transpose());
      rows = by_row.inverse().matrix().asDiagonal() * rows;
      rows = rows * by_column.inverse().matrix().asDiagonal();
      high.array() /= by_row;
      cost.array() /= by_column;
      variables *= by_column;
    }
  }

 private:
  static Array root(const Vector& largest) {
    return (largest.array() < 1e-6).select(1.0, largest.array().sqrt());
  }
};

/// Solves [d G'; G -(W^2 + d)] [x; z] = [top; bottom].
class Newton {
 public:
  Newton(const Matrix& rows, const Array& weights) : rows_(rows), weights_(weights + kRegular) {
    Matrix normal = rows.transpose() * weights_.inverse().matrix().asDiagonal() * rows;
    normal.diagonal().array() += kRegular;
    factor_.compute(normal);
  }
  void solve(const Vector& top, const Vector& bottom, Vector& x, Vector& z) const {
    x = Vector::Zero(top.size());
    z = Vector::Zero(bottom.size());
    for (int k = 0; k <= kRefinements; ++k) {
      const Vector off_top = top - rows_.transpose() * z - kRegular * x;
      const Vector off_bottom = bottom - rows_ * x + (weights_ * z.array()).matrix();
      const Vector step =
          factor_.solve(off_top + rows_.transpose() * (off_bottom.array() / weights_).matrix());
      z += ((rows_ * step - off_bottom).array() / weights_).matrix();
      x += step;
    }
  }

 private:
  const Matrix& rows_;
  Array weights_;
  Eigen::LDLT<Matrix> factor_;
};

/// Moves what is not well above 0 there, all by the same.
Vector lifted(const Vector& r) {
  const double lowest = r.minCoeff();
  return r.array() + (lowest <= 0 ? 1 - lowest : 1 - kBackOff);
}

class Embedding {
 public:
  explicit Embedding(const Scaled& program) : p_(program) {
    const Newton newton(p_.rows, Array::Ones(p_.high.size()));
    newton.solve(Vector::Zero(p_.cost.size()), p_.high, x_, z_);
    s_ = lifted(-z_);
    Vector ignored;
    newton.solve(-p_.cost, Vector::Zero(p_.high.size()), ignored, z_);
    z_ = lifted(z_);
  }

  [[nodiscard]] bool converges() {
    for (int k = 0; k < kMostIterations; ++k) {
      measure();
      if (good()) return true;
      if (!std::isfinite(mu_)) return false;
      advance();
    }
    return false;
  }
  [[nodiscard]] Vector point() const { return (x_.array() / tau_ / p_.variables).matrix(); }

 private:
  void measure() {
    rx_ = -p_.rows.transpose() * z_ - p_.cost * tau_;
    rz_ = s_ + p_.rows * x_ - p_.high * tau_;
    cx_ = p_.cost.dot(x_);
    hz_ = p_.high.dot(z_);
    rt_ = kappa_ + cx_ + hz_;
    gap_ = s_.dot(z_);
    mu_ = (gap_ + kappa_ * tau_) / static_cast<double>(s_.size() + 1);
  }
  [[nodiscard]] bool good() const {
    const double bottom = std::max(p_.high.norm() + x_.norm() + s_.norm(), 1.0);
    const double top = std::max(p_.cost.norm() + z_.norm(), 1.0);
    if (rz_.norm() / bottom / tau_ >= kTolerance || rx_.norm() / top / tau_ >= kTolerance)
      return false;
    if (cx_ >= 0 && hz_ > kTolerance) return false;
    const double of = cx_ < 0 ? -cx_ / tau_ : -hz_ / tau_;
    return gap_ < kTolerance || (of > 0 && gap_ / of < kTolerance);
  }

  struct Step {
    Vector x, z;
    Array z_scaled, s_scaled;  ///< W z, and W^-1 s
    double tau = 0, kappa = 0;
  };
  /// How far all stay above 0, at most about 1.
  [[nodiscard]] double length(const Step& step, const Array& lambda) const {
    const double lowest =
        std::min((step.s_scaled / lambda).minCoeff(), (step.z_scaled / lambda).minCoeff());
    double most = lowest < 0 ? -1 / lowest : kLongest;
    if (step.tau < 0) most = std::min(most, -tau_ / step.tau);
    if (step.kappa < 0) most = std::min(most, -kappa_ / step.kappa);
    return std::clamp(most, kShortest, kLongest);
  }
  /// The direction in which residuals fall to `left` of themselves and lambda * the scaled step to
  /// -`target`, kappa tau to -`target_kappa`.
  Step direction(const Newton& newton, const Array& w, const Array& lambda, double remove,
                 const Array& target, double target_kappa) const {
    const Array by_lambda = target / lambda;
    Step step;
    newton.solve(remove * rx_, (w * by_lambda).matrix() - remove * rz_, step.x, step.z);
    const double slope = kappa_ / tau_ - p_.cost.dot(x1_) - p_.high.dot(z1_);
    step.tau =
        (remove * rt_ - target_kappa / tau_ + p_.cost.dot(step.x) + p_.high.dot(step.z)) / slope;
    step.x += step.tau * x1_;
    step.z += step.tau * z1_;
    step.z_scaled = w * step.z.array();
    step.s_scaled = -by_lambda - step.z_scaled;
    step.kappa = -(target_kappa + kappa_ * step.tau) / tau_;
    return step;
  }
  void advance() {
    const Array w = (s_.array() / z_.array()).sqrt();
    const Array lambda = (s_.array() * z_.array()).sqrt();
    const Newton newton(p_.rows, w * w);
    newton.solve(-p_.cost, p_.high, x1_, z1_);
    const Step affine = direction(newton, w, lambda, 1, lambda * lambda, kappa_ * tau_);
    const double centering =
        std::clamp(std::pow(1 - length(affine, lambda), 3), kLeastCentering, 1.0);
    const Array target = lambda * lambda + affine.s_scaled * affine.z_scaled - centering * mu_;
    const double target_kappa = kappa_ * tau_ + affine.kappa * affine.tau - centering * mu_;
    const Step step = direction(newton, w, lambda, 1 - centering, target, target_kappa);
    const double far = kBackOff * length(step, lambda);
    x_ += far * step.x;
    z_ += far * step.z;
    s_ += far * (w * step.s_scaled).matrix();
    tau_ += far * step.tau;
    kappa_ += far * step.kappa;
  }

  const Scaled& p_;
  Vector x_, z_, s_, rx_, rz_, x1_, z1_;
  double tau_ = 1, kappa_ = 1, cx_ = 0, hz_ = 0, rt_ = 0, gap_ = 0, mu_ = 0;
};

}  // namespace

Result<std::vector<double>> embedded_optimum(const InequalityProgram& program) {
  const Scaled scaled(program);
  Embedding embedding(scaled);
  const bool converged = embedding.converges();
  const Vector point = embedding.point();
  const Vector over = scaled.rows * (point.array() * scaled.variables).matrix() - scaled.high;
  if (!converged || !(over.maxCoeff() < kSatisfied))
    return {Errc::busy, "the interior-point method found no point that satisfies all rows"};
  return std::vector<double>(point.data(), point.data() + point.size());
}

}  // namespace starling
