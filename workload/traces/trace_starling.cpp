// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "workload/catalogue.h"
#include "workload/traces/trace_format.h"

namespace starling {
namespace {

enum Column : std::size_t {
  job_id,
  submit_s,
  gpus,
  duration_s,
  model,
  user,
  vc,
  workers,
  min_workers,
  max_workers,
  gpu_types,
  cpus,
  memory_gib,
  priority,
  work,
  max_servers,
  server_cpus,
  batch,
  max_batch,
  copies,
  save_s,
  restore_s,
  column_count
};
constexpr std::array<std::string_view, column_count> kColumns = {
    "job_id",     "submit_s", "gpus",        "duration_s",  "model",       "user",
    "vc",         "workers",  "min_workers", "max_workers", "gpu_types",   "cpus",
    "memory_gib", "priority", "work",        "max_servers", "server_cpus", "batch",
    "max_batch",  "copies",   "save_s",      "restore_s"};
constexpr std::size_t kAbsent = std::numeric_limits<std::size_t>::max();
constexpr std::string_view kHeaderHelp =
    "columns are job_id,submit_s,gpus,duration_s and, if wanted, "
    "model,user,vc,workers,min_workers,max_workers,gpu_types,cpus,memory_gib,priority,work,"
    "max_servers,server_cpus,batch,max_batch,copies,save_s,restore_s";

class StarlingCsv final : public TraceFormat {
 public:
  explicit StarlingCsv(const std::array<std::size_t, column_count>& where) : where_(where) {}

  Result<TraceRowJob> read(const TraceRow& row) override {
    row_ = &row;
    error_.reset();
    TraceRowJob out;
    JobSpec& spec = out.job.spec;
    spec.name = text(job_id);
    spec.model = text(model);
    spec.user = text(user);
    spec.queue = text(vc);
    seconds(submit_s, out.job.submit);
    seconds(duration_s, spec.duration);
    const auto gang = static_cast<std::uint32_t>(whole(gpus, 0, kTraceGangMax));
    set_gang(spec, gang);
    read_workers(spec, gang);
    spec.cpus_per_worker = real(cpus);
    spec.memory_gib_per_worker = real(memory_gib);
    spec.priority =
        static_cast<std::int32_t>(whole(priority, std::numeric_limits<std::int32_t>::min(),
                                        std::numeric_limits<std::int32_t>::max()));
    read_types(spec);
    read_run(spec);
    const double iterations = real(work);
    if (spec.duration == Duration::zero() && iterations > 0) {
      spec.duration = from_seconds(iterations * model_profile(spec.model).iteration_s);
    }
    if (error_) return *error_;
    out.dropped = gang == 0 || spec.duration == Duration::zero();
    return out;
  }
  [[nodiscard]] bool rebased() const noexcept override { return false; }

 private:
  std::string_view text(Column column) const {
    return where_[column] == kAbsent ? std::string_view() : row_->fields[where_[column]];
  }
  void fail(Column column, const std::string& right) {
    if (error_) return;
    error_ = row_->wrong(std::string(kColumns[column]) + " is '" + std::string(text(column)) +
                         "'; write " + right);
  }
  void seconds(Column column, Duration& duration) {
    if (column != submit_s && text(column).empty()) return;
    if (!parse_seconds(text(column), duration)) fail(column, "seconds from 0, as 66 or 66.5");
  }
  std::int64_t whole(Column column, std::int64_t low, std::int64_t high) {
    std::int64_t number = 0;
    if (column != gpus && text(column).empty()) return 0;
    if (!parse_number(text(column), number) || number < low || number > high) {
      fail(column, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
      return 0;
    }
    return number;
  }
  double real(Column column) {
    double number = 0;
    if (text(column).empty()) return 0;
    if (!parse_number(text(column), number) || number < 0 || number > 1e15) {
      fail(column, "a number from 0");
      return 0;
    }
    return number;
  }
  void read_workers(JobSpec& spec, std::uint32_t gang) {
    const auto count = static_cast<std::uint32_t>(whole(workers, 0, kTraceGangMax));
    if (count > 0) {
      if (gang % count != 0) fail(workers, "a divisor of gpus, which is " + std::to_string(gang));
      spec.workers = count;
      spec.gpus_per_worker = gang / count;
    }
    spec.min_workers = static_cast<std::uint32_t>(whole(min_workers, 0, kTraceGangMax));
    spec.max_workers = static_cast<std::uint32_t>(whole(max_workers, 0, kTraceGangMax));
    if (spec.min_workers == 0 && spec.max_workers == 0) return;
    if (spec.min_workers < 1 || spec.min_workers > spec.workers) {
      fail(min_workers,
           "1 to " + std::to_string(spec.workers) + " (the workers), or leave min and max empty");
    }
    if (spec.max_workers < spec.workers) {
      fail(max_workers, "at least " + std::to_string(spec.workers) +
                            " (the workers), or leave min and max empty");
    }
  }
  void read_run(JobSpec& spec) {
    RunDetails& run = spec.run;
    const auto count = [&](Column column, std::int64_t low) {
      if (text(column).empty() || text(column) == "0") return std::uint32_t{0};
      return static_cast<std::uint32_t>(whole(column, low, RunDetails::kMost));
    };
    run.max_servers = count(max_servers, 0);
    run.server_cpus = real(server_cpus);
    if (run.server_cpus > 1e6) fail(server_cpus, "a number from 0 to 1000000");
    run.batch = count(batch, std::max(1U, spec.gpus()));
    run.max_batch = count(max_batch, std::max(1U, run.batch));
    if (run.max_batch > 0 && run.batch == 0) fail(max_batch, "the batch, too, or neither");
    if (const std::string_view yes = text(copies); !yes.empty() && yes != "no") {
      run.copies = yes == "yes";
      if (!run.copies) fail(copies, "yes or no");
    }
    for (const auto& [column, time] : {std::pair(save_s, &run.save), {restore_s, &run.restore}}) {
      seconds(column, *time);
      if (*time > RunDetails::kMostRestart) fail(column, "seconds from 0 to 604800");
    }
  }
  void read_types(JobSpec& spec) {
    std::string_view rest = text(gpu_types);
    while (!rest.empty()) {
      const std::size_t bar = rest.find('|');
      if (bar == 0 || bar + 1 == rest.size())
        return fail(gpu_types, "names with | between them, as V100|P100");
      spec.gpu_types.emplace_back(rest.substr(0, bar));
      rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
    }
  }

  std::array<std::size_t, column_count> where_;
  const TraceRow* row_ = nullptr;
  std::optional<Error> error_;
};

}  // namespace

Result<std::unique_ptr<TraceFormat>> starling_format(const TraceRow& header) {
  std::array<std::size_t, column_count> where;
  where.fill(kAbsent);
  for (std::size_t i = 0; i < header.fields.size(); ++i) {
    std::size_t c = 0;
    while (c < column_count && kColumns[c] != header.fields[i]) ++c;
    if (c == column_count) {
      return header.wrong("column '" + std::string(header.fields[i]) + "' is unknown; " +
                          std::string(kHeaderHelp));
    }
    if (where[c] != kAbsent)
      return header.wrong("column '" + std::string(kColumns[c]) + "' is there twice");
    where[c] = i;
  }
  for (std::size_t c = 0; c <= duration_s; ++c) {
    if (where[c] == kAbsent) {
      return header.wrong("column '" + std::string(kColumns[c]) + "' is missing; " +
                          std::string(kHeaderHelp));
    }
  }
  return std::unique_ptr<TraceFormat>(std::make_unique<StarlingCsv>(where));
}

}  // namespace starling
