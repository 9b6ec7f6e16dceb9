// SPDX-License-Identifier: Apache-2.0
// Muri (SIGCOMM 2022): submissions of four Philly virtual clusters and of a testbed, with models
// drawn at random. Times in milliseconds. Tiresias (NSDI 2019): its 60-job testbed workload, the
// same without iteration times, in seconds. `interval` repeats the submit times, and Muri's
// `priority` is not used by it.
#include "workload/traces/trace_table.h"

namespace starling {
namespace {

enum Column : std::size_t { job_id, num_gpu, submit_time, model_name, duration };
constexpr std::string_view kMuriColumns[] = {"job_id",     "num_gpu",  "submit_time",
                                             "model_name", "duration", "iteration_time"};
constexpr std::string_view kTiresiasColumns[] = {
    "job_id", "num_gpu", "submit_time", "model_name", "duration", "iterations", "interval"};

TraceRowJob read(TableRow& row, double unit_s) {
  TraceRowJob out;
  JobSpec& spec = out.job.spec;
  spec.name = row.text(job_id);
  spec.model = row.text(model_name);
  out.job.submit = row.time(submit_time, unit_s);
  spec.duration = row.time(duration, unit_s);
  const std::uint32_t gpus = row.gpus(num_gpu);
  set_gang(spec, gpus);
  out.dropped = gpus == 0 || spec.duration == Duration::zero();
  return out;
}

}  // namespace

const TraceTable kMuriTable = {"muri", kMuriColumns, [](TableRow& row) { return read(row, 1e-3); }};
const TraceTable kTiresiasTable = {"tiresias", kTiresiasColumns,
                                   [](TableRow& row) { return read(row, 1); }};

}  // namespace starling
