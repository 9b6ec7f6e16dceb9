// SPDX-License-Identifier: Apache-2.0
// Gavel (OSDI 2020) and Shockwave (NSDI 2023): jobs of Gavel's 26 types. Gavel gives steps, which
// become time at the measured speed alone on V100s; Shockwave gives the duration as well. Weights
// and SLOs are 1 and -1 throughout, and are not read.
#include <string>

#include "workload/gavel_throughput.h"
#include "workload/traces/trace_table.h"

namespace starling {
namespace {

enum Column : std::size_t { model, batch_size, total_steps, scale_factor, duration_s, arrival_s };
constexpr std::string_view kColumns[] = {"model",        "batch_size", "total_steps",
                                         "scale_factor", "duration_s", "arrival_s"};

TraceRowJob read(TableRow& row) {
  TraceRowJob out;
  JobSpec& spec = out.job.spec;
  const auto batch = static_cast<std::uint32_t>(row.whole(batch_size, 0, 1 << 24));
  const double steps = row.real(total_steps);
  const std::uint32_t gpus = row.gpus(scale_factor);
  out.job.submit = row.time(arrival_s);
  set_gang(spec, gpus);
  const GavelJobType* type = gavel_job_type(row.text(model), batch);
  spec.model = type != nullptr ? type->job_model() : std::string(row.text(model));
  if (!row.text(duration_s).empty()) {
    spec.duration = row.time(duration_s);
  } else if (gpus > 0) {
    const double speed = type != nullptr ? type->speed(GpuKind::v100, gpus) : 0;
    if (speed > 0) {
      spec.duration = from_seconds(steps / speed);
    } else {
      row.fail(model, "a job type whose speed on " + std::to_string(gpus) +
                          " V100s Gavel measured (this one, with batch size " +
                          std::to_string(batch) + ", it did not), or give its duration_s");
    }
  }
  out.dropped = gpus == 0 || spec.duration == Duration::zero();
  return out;
}

}  // namespace

const TraceTable kGavelTable = {"gavel", kColumns, read};

}  // namespace starling
