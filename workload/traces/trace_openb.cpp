// SPDX-License-Identifier: Apache-2.0
// Alibaba's openb (2023): pods of a cluster that shares GPUs. Pods without a GPU and pods that were
// never scheduled are dropped. A pod with a share of one GPU becomes a job with the whole GPU: a
// job has no place for the share. The duration is what it ran: deletion - scheduling; the queue is
// the class of service.
#include "workload/traces/trace_table.h"

namespace starling {
namespace {

enum Column : std::size_t {
  name,
  cpu_milli,
  memory_mib,
  num_gpu,
  gpu_spec,
  qos,
  creation_time,
  deletion_time,
  scheduled_time
};
constexpr std::string_view kColumns[] = {"name",          "cpu_milli",     "memory_mib",
                                         "num_gpu",       "gpu_spec",      "qos",
                                         "creation_time", "deletion_time", "scheduled_time"};

void read_types(TableRow& row, JobSpec& spec) {
  std::string_view rest = row.text(gpu_spec);
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    if (bar == 0 || bar + 1 == rest.size())
      return row.fail(gpu_spec, "names with | between them, as V100M16|P100");
    spec.gpu_types.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
  }
}

TraceRowJob read(TableRow& row) {
  TraceRowJob out;
  JobSpec& spec = out.job.spec;
  spec.name = row.text(name);
  spec.queue = row.text(qos);
  out.job.submit = row.time(creation_time);
  const std::uint32_t gpus = row.gpus(num_gpu);
  spec.gpus_per_worker = gpus;  // a pod is on one server
  spec.cpus_per_worker = row.real(cpu_milli) / 1000;
  spec.memory_gib_per_worker = row.real(memory_mib) / 1024;
  read_types(row, spec);
  if (gpus == 0 || row.text(scheduled_time).empty()) {
    out.dropped = true;
    return out;
  }
  const Duration started = row.time(scheduled_time);
  const Duration ended = row.time(deletion_time);
  if (ended < started) row.fail(deletion_time, "a time that is not before scheduled_time");
  spec.duration = ended - started;
  out.dropped = spec.duration == Duration::zero();
  return out;
}

}  // namespace

const TraceTable kOpenbTable = {"openb", kColumns, read};

}  // namespace starling
