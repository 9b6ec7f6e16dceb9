// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "workload/text/csv.h"
#include "workload/text/text_file.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_csv.h"

namespace starling {
namespace {

// The shortest text that reads back to the same number; nothing for 0, which is the default.
std::string number(double value) {
  if (value == 0) return {};
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

std::string number(std::uint32_t value) {
  return value == 0 ? std::string() : std::to_string(value);
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : "|") + name;
  return out;
}

std::string seconds_or_nothing(Duration time) {
  return time == Duration::zero() ? std::string() : format_seconds(time);
}

void append_run(std::string& text, const RunDetails& run) {
  const std::string cells[] = {
      number(run.max_servers),        number(run.server_cpus), number(run.batch),
      number(run.max_batch),          run.copies ? "yes" : "", seconds_or_nothing(run.save),
      seconds_or_nothing(run.restore)};
  for (const std::string& cell : cells) text += ',' + cell;
}

// `details`: with the columns of RunDetails.
void append_row(std::string& text, const TraceJob& job, bool details) {
  const JobSpec& spec = job.spec;
  const std::string cells[] = {csv_field(spec.name.empty() ? to_string(spec.id) : spec.name),
                               format_seconds(job.submit),
                               std::to_string(spec.gpus()),
                               format_seconds(spec.duration),
                               csv_field(spec.model),
                               csv_field(spec.user),
                               csv_field(spec.queue),
                               std::to_string(spec.workers),
                               number(spec.min_workers),
                               number(spec.max_workers),
                               csv_field(joined(spec.gpu_types)),
                               number(spec.cpus_per_worker),
                               number(spec.memory_gib_per_worker),
                               spec.priority == 0 ? "" : std::to_string(spec.priority)};
  for (const std::string& cell : cells) {
    if (&cell != cells) text += ',';
    text += cell;
  }
  if (details) append_run(text, spec.run);
  text += '\n';
}

}  // namespace

std::string trace_csv(const Trace& trace) {
  std::string text =
      "job_id,submit_s,gpus,duration_s,model,user,vc,workers,min_workers,max_workers,gpu_types,"
      "cpus,memory_gib,"
      "priority";
  const bool details =
      std::ranges::any_of(trace.jobs, [](const TraceJob& job) { return job.spec.run.any(); });
  if (details) text += ",max_servers,server_cpus,batch,max_batch,copies,save_s,restore_s";
  text += '\n';
  text.reserve(text.size() + trace.jobs.size() * 64);
  for (const TraceJob& job : trace.jobs) append_row(text, job, details);
  return text;
}

Status write_trace(const std::filesystem::path& file, const Trace& trace) {
  return write_text_file(file, trace_csv(trace));
}

}  // namespace starling
