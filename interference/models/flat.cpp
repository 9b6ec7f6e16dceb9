// SPDX-License-Identifier: Apache-2.0
#include "interference/models.h"

namespace starling {
namespace {

class TracePhysics final : public Physics {
 public:
  [[nodiscard]] double rate(const JobProfile&, const Placement&, const Neighbours&) const override {
    return 1;
  }
  [[nodiscard]] bool varies() const noexcept override { return false; }
  [[nodiscard]] double startup_s(const JobProfile&) const override { return 0; }
};

class FlatSpeed final : public SpeedModel {
 public:
  [[nodiscard]] Speed speed(const JobProfile&, const Placement&, const Neighbours&) const override {
    return {};
  }
  [[nodiscard]] SpeedHealth health() const override {
    SpeedHealth health;
    health.model = "flat";
    return health;
  }
};

class TrueSpeed final : public SpeedModel {
 public:
  explicit TrueSpeed(const Physics& physics) : physics_(physics) {}
  [[nodiscard]] Speed speed(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside) const override {
    return {physics_.rate(job, placement, beside), 0};
  }
  [[nodiscard]] double scaling(const JobProfile& job) const override {
    return physics_.scaling(job);
  }
  [[nodiscard]] double pace(const JobProfile& job, const Placement& placement,
                            const Neighbours& beside, const Allocation& how) const override {
    return physics_.pace(job, placement, beside, how);
  }
  [[nodiscard]] SpeedHealth health() const override {
    SpeedHealth health;
    health.model = "physics";
    return health;
  }

 private:
  const Physics& physics_;
};

}  // namespace

std::unique_ptr<Physics> make_trace_physics() { return std::make_unique<TracePhysics>(); }
std::unique_ptr<SpeedModel> make_flat_speed() { return std::make_unique<FlatSpeed>(); }

std::unique_ptr<SpeedModel> make_true_speed(const Physics& physics) {
  return std::make_unique<TrueSpeed>(physics);
}

}  // namespace starling
