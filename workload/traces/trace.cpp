// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/trace.h"

#include <algorithm>
#include <cmath>

#include "workload/text/text_file.h"
#include "workload/traces/trace_format.h"
#include "workload/traces/trace_swf.h"
#include "workload/traces/trace_table.h"

namespace starling {
namespace {

// Above every id that parse_job_id makes of a short number, and in the order of the rows.
constexpr std::uint64_t kTraceIds = 0x7472'6163'6500'0000ULL;

bool has(const TraceRow& header, std::string_view column) {
  return std::find(header.fields.begin(), header.fields.end(), column) != header.fields.end();
}

#define STARLING_TABLE(Name) &k##Name##Table,
constexpr const TraceTable* kTables[] = {STARLING_TRACE_TABLES(STARLING_TABLE)};
#undef STARLING_TABLE

std::string known_formats() {
  std::string known;
  for (const std::string& f : trace_formats()) known += (known.empty() ? "" : ", ") + f;
  return "known are " + known;
}

Result<std::unique_ptr<TraceFormat>> choose_format(const std::string& name,
                                                   const TraceRow& header) {
  std::string format = name == "shockwave" ? "gavel" : name;
  if (format.empty() && has(header, "timestamp") && has(header, "num_gpus")) format = "philly";
  for (const TraceTable* table : kTables) {
    if (format == table->name || (format.empty() && matches(*table, header)))
      return table_format(*table, header);
  }
  if (format.empty() && (has(header, "submit_s") || has(header, "job_id"))) format = "starling";
  if (format == "philly") return philly_format(header);
  if (format == "starling") return starling_format(header);
  if (format.empty())
    return header.wrong("this header belongs to no known trace format; " + known_formats());
  return Error{Errc::invalid, "trace format '" + format + "' is unknown; " + known_formats()};
}

Status check_options(const TraceOptions& options) {
  if (!std::isfinite(options.load) || options.load <= 0) {
    return {Errc::invalid, "load is " + std::to_string(options.load) + "; it must be above 0"};
  }
  if (options.from < Duration::zero() || options.length < Duration::zero()) {
    return {Errc::invalid, "the window of a trace must not start or last below 0 s"};
  }
  return done();
}

Status read_rows(CsvReader& csv, TraceFormat& format, const std::string& file, std::size_t columns,
                 Trace& trace) {
  std::vector<std::string_view> fields;
  for (std::uint64_t index = 0; csv.next(fields); ++index) {
    const TraceRow row{fields, file, csv.line()};
    if (fields.size() != columns) {
      return row.wrong("has " + std::to_string(fields.size()) + " fields; the header has " +
                       std::to_string(columns));
    }
    Result<TraceRowJob> read = format.read(row);
    if (!read) return read.error();
    if (read.value().dropped) {
      ++trace.dropped;
      continue;
    }
    TraceJob& job = trace.jobs.emplace_back(std::move(read.value().job));
    job.spec.id = trace_job_id(index);
    if (job.spec.name.empty()) job.spec.name = "row-" + std::to_string(index + 1);
  }
  if (csv.bad_quote()) {
    return TraceRow{fields, file, csv.line()}.wrong(
        "a quoted field does not end as it should; write \"...\" and double the quotes inside");
  }
  return done();
}

// Whether times count from the first row.
Result<bool> read_csv(const std::string& text, const std::string& file, const std::string& name,
                      Trace& trace) {
  if (const std::size_t first = text.find_first_not_of(" \t\r\n");
      first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    return {Errc::invalid, file + ":1: is JSON, which no trace format is; " + known_formats() +
                               ". What a Batsim workload was made of is often an SWF file"};
  }
  CsvReader csv(text);
  std::vector<std::string_view> header;
  if (!csv.next(header))
    return {Errc::invalid, file + ":1: is empty; a trace starts with a header line"};
  auto format = choose_format(name, TraceRow{header, file, csv.line()});
  if (!format) return format.error();
  trace.jobs.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
  if (Status read = read_rows(csv, *format.value(), file, header.size(), trace); !read)
    return read.error();
  return format.value()->rebased();
}

void rebase(std::vector<TraceJob>& jobs) {
  if (jobs.empty()) return;
  const Duration first = jobs.front().submit;
  for (TraceJob& job : jobs) job.submit -= first;
}

void apply(const TraceOptions& options, Trace& trace) {
  std::vector<TraceJob>& jobs = trace.jobs;
  const auto before = [](const TraceJob& job, Duration at) { return job.submit < at; };
  if (options.from > Duration::zero() || options.length > Duration::zero()) {
    if (options.length > Duration::zero() && options.from <= Duration::max() - options.length) {
      jobs.erase(std::lower_bound(jobs.begin(), jobs.end(), options.from + options.length, before),
                 jobs.end());
    }
    jobs.erase(jobs.begin(), std::lower_bound(jobs.begin(), jobs.end(), options.from, before));
    rebase(jobs);
  }
  if (options.max_jobs > 0 && jobs.size() > options.max_jobs) jobs.resize(options.max_jobs);
  if (options.load != 1.0) {
    for (TraceJob& job : jobs) job.submit = from_seconds(seconds(job.submit) / options.load);
  }
}

}  // namespace

std::vector<std::string> trace_formats() {
  std::vector<std::string> names{"starling", "philly"};
  for (const TraceTable* table : kTables) names.emplace_back(table->name);
  names.insert(names.end(), {"shockwave", "swf"});
  return names;
}

JobId trace_job_id(std::uint64_t index) noexcept { return {kTraceIds, index + 1}; }

void set_gang(JobSpec& spec, std::uint32_t gpus) noexcept {
  const std::uint32_t per_worker = gpus <= 8 ? gpus : gpus % 8 == 0 ? 8 : 1;
  spec.gpus_per_worker = per_worker;
  spec.workers = per_worker == 0 ? 1 : gpus / per_worker;
}

Result<Trace> read_trace(const std::filesystem::path& file, const TraceOptions& options) {
  if (Status good = check_options(options); !good) return good.error();
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  Trace trace;
  trace.name = file.filename().string();
  bool rebased = true;
  if (options.reader) {
    auto read = options.reader(text.value(), file.string());
    if (!read) return read.error();
    trace.jobs = std::move(read.value().jobs);
    trace.dropped = read.value().dropped;
    for (std::size_t i = 0; i < trace.jobs.size(); ++i) trace.jobs[i].spec.id = trace_job_id(i);
  } else if (options.format == "swf" || (options.format.empty() && looks_like_swf(text.value()))) {
    if (Status read = read_swf(text.value(), file.string(), trace); !read) return read.error();
  } else {
    const Result<bool> read = read_csv(text.value(), file.string(), options.format, trace);
    if (!read) return read.error();
    rebased = read.value();
  }
  const auto earlier = [](const TraceJob& a, const TraceJob& b) { return a.submit < b.submit; };
  // Most files are in order, and rows are large: sorting them costs as much as reading them.
  if (!std::is_sorted(trace.jobs.begin(), trace.jobs.end(), earlier))
    std::stable_sort(trace.jobs.begin(), trace.jobs.end(), earlier);
  if (rebased) rebase(trace.jobs);
  apply(options, trace);
  return trace;
}

}  // namespace starling
