// SPDX-License-Identifier: Apache-2.0
#include "interference/measured_physics.h"

#include <algorithm>

#include "workload/gavel_throughput.h"

namespace starling {
namespace {

struct MeasuredRange {
  double least = 0, most = 0;  ///< of those measured
};

MeasuredRange range_of(const GavelJobType& type, std::uint32_t gpus) {
  MeasuredRange range;
  for (const GpuKind kind : {GpuKind::k80, GpuKind::p100, GpuKind::v100}) {
    const double speed = type.speed(kind, gpus);
    if (speed <= 0) continue;
    range.most = std::max(range.most, speed);
    range.least = range.least > 0 ? std::min(range.least, speed) : speed;
  }
  return range;
}

class MeasuredPhysics final : public Physics {
 public:
  explicit MeasuredPhysics(const Topology& topology) : topology_(topology) {}

  [[nodiscard]] double rate(const JobProfile& job, const Placement& placement,
                            const Neighbours&) const override {
    const GavelJobType* type = gavel_job_type(job.model);
    if (type == nullptr) return 1;
    const MeasuredRange range = range_of(*type, job.gpus);
    if (range.most <= 0) return 1;
    double slowest = range.most;
    for (const GpuId gpu : placement) {
      const GpuKind kind = gpu_kind(topology_.gpu_types()[topology_.type_of(gpu).value].name);
      const double speed = type->speed(kind, job.gpus);
      slowest = std::min(slowest, speed > 0 ? speed : range.least);
    }
    return slowest / range.most;
  }
  [[nodiscard]] bool varies() const noexcept override { return true; }
  [[nodiscard]] double startup_s(const JobProfile&) const override { return 0; }

 private:
  const Topology& topology_;
};

}  // namespace

std::unique_ptr<Physics> make_measured_physics(const Topology& topology) {
  return std::make_unique<MeasuredPhysics>(topology);
}

void run_as_measured(Trace& trace, const Topology& topology) {
  for (TraceJob& job : trace.jobs) {
    JobSpec& spec = job.spec;
    const GavelJobType* type = gavel_job_type(spec.model);
    if (type == nullptr) continue;
    const double on_v100 = type->speed(GpuKind::v100, spec.gpus());
    if (on_v100 <= 0) continue;
    const double at_best = on_v100 / range_of(*type, spec.gpus()).most;
    spec.duration = from_seconds(seconds(spec.duration) * at_best);
    if (!spec.gpu_types.empty()) continue;
    std::vector<std::string> measured;
    for (const GpuType& there : topology.gpu_types())
      if (type->speed(gpu_kind(there.name), spec.gpus()) > 0) measured.push_back(there.name);
    if (measured.size() < topology.gpu_types().size()) spec.gpu_types = std::move(measured);
  }
}

}  // namespace starling
