// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/trace_swf.h"

#include <algorithm>
#include <array>

#include "workload/text/csv.h"
#include "workload/traces/trace.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

// Fields of the format by number - 1; -1 is "not known" in all of them.
enum Field : std::size_t {
  number = 0,
  submit = 1,
  run_time = 3,
  allocated = 4,
  requested = 7,
  user = 11,
  queue = 14,
  field_count = 18
};

constexpr std::string_view kBlanks = " \t\r";

// The next line of text without its end, from at; false behind the last one.
bool next_line(std::string_view text, std::size_t& at, std::string_view& line) {
  if (at >= text.size()) return false;
  const std::size_t end = text.find('\n', at);
  line = text.substr(at, end == std::string_view::npos ? end : end - at);
  at = end == std::string_view::npos ? text.size() : end + 1;
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  return true;
}

std::size_t split(std::string_view line, std::array<std::string_view, field_count>& fields) {
  std::size_t count = 0;
  while (!line.empty()) {
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    if (count < field_count) fields[count] = line.substr(0, end);
    ++count;
    line.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  }
  return count;
}

}  // namespace

bool looks_like_swf(std::string_view text) {
  std::string_view line;
  std::array<std::string_view, field_count> fields;
  for (std::size_t at = 0; next_line(text, at, line);) {
    if (line.empty()) continue;
    double first = 0;
    return line.front() == ';' ||
           (split(line, fields) == field_count && parse_number(fields[0], first));
  }
  return false;
}

Status read_swf(std::string_view text, const std::string& file, Trace& trace) {
  std::string_view line;
  std::array<std::string_view, field_count> fields;
  std::uint64_t line_number = 0;
  std::uint64_t index = 0;
  for (std::size_t at = 0; next_line(text, at, line);) {
    ++line_number;
    if (line.empty() || line.front() == ';') continue;
    const TraceRow row{{}, file, line_number};
    if (const std::size_t count = split(line, fields); count != field_count) {
      return row.wrong("has " + std::to_string(count) +
                       " fields; a job of the Standard Workload Format has 18");
    }
    std::array<double, field_count> values{};
    for (const Field f : {number, submit, run_time, allocated, requested, user, queue}) {
      if (!parse_number(fields[f], values[f]) || values[f] < -1 || values[f] >= 9.2e9) {
        return row.wrong("field " + std::to_string(f + 1) + " is '" + std::string(fields[f]) +
                         "'; write a number from 0, or -1 for not known");
      }
    }
    if (values[submit] < 0)
      return row.wrong("field 2, the submit time, is below 0; a job needs one");
    const double processors = values[allocated] > 0 ? values[allocated] : values[requested];
    if (processors > kTraceGangMax) {
      return row.wrong("asks for " + std::string(fields[allocated]) + " processors; at most " +
                       std::to_string(kTraceGangMax) + " are read");
    }
    const std::uint64_t id = index++;
    if (processors < 1 || values[run_time] <= 0) {
      ++trace.dropped;
      continue;
    }
    TraceJob& job = trace.jobs.emplace_back();
    job.submit = from_seconds(values[submit]);
    JobSpec& spec = job.spec;
    spec.id = trace_job_id(id);
    spec.name = fields[number];
    spec.duration = from_seconds(values[run_time]);
    set_gang(spec, static_cast<std::uint32_t>(processors));
    if (values[user] >= 0) spec.user = "user" + std::string(fields[user]);
    if (values[queue] >= 0) spec.queue = "queue" + std::string(fields[queue]);
  }
  return done();
}

}  // namespace starling
