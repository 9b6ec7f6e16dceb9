// SPDX-License-Identifier: Apache-2.0
// What people write: files of every kind that an agent or a simulation reads.
#include <string>
#include <vector>

#include "base/check.h"
#include "tests/fuzz/memory_file.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/text.h"
#include "topology/file/load.h"
#include "workload/job_file.h"
#include "workload/traces/trace.h"

namespace starling::fuzz {

void topology(FuzzBytes bytes) {
  const auto parsed = parse_topology(text_of(bytes), "fuzz.yaml");
  must_explain(parsed);
  if (!parsed) return;
  for (std::uint32_t s = 0; s < parsed.value().server_count(); ++s) {
    const IndexRange gpus = parsed.value().server(ServerId{s}).gpus;
    STARLING_CHECK(gpus.first <= gpus.last && gpus.last <= parsed.value().gpu_count());
  }
}

void trace(FuzzBytes bytes) {
  if (bytes.empty()) return;
  static const std::vector<std::string> formats = trace_formats();
  TraceOptions options;
  const std::size_t which = bytes[0] % (formats.size() + 1);
  if (which < formats.size()) options.format = formats[which];
  const MemoryFile file(bytes.subspan(1));
  const auto read = read_trace(file.path(), options);
  must_explain(read);
  if (!read) return;
  for (std::size_t i = 1; i < read.value().jobs.size(); ++i) {
    STARLING_CHECK(read.value().jobs[i - 1].submit <= read.value().jobs[i].submit);
  }
}

void job(FuzzBytes bytes) {
  const MemoryFile file(bytes);
  const auto read = read_job_file(file.path());
  must_explain(read);
  if (!read) return;
  for (const JobSpec& spec : read.value()) STARLING_CHECK(spec.gpus() > 0);
}

}  // namespace starling::fuzz
