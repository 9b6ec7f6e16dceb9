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
};

}  // namespace

std::unique_ptr<Physics> make_trace_physics() { return std::make_unique<TracePhysics>(); }
std::unique_ptr<SpeedModel> make_flat_speed() { return std::make_unique<FlatSpeed>(); }

}  // namespace starling
