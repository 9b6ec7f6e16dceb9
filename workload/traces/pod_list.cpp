// SPDX-License-Identifier: Apache-2.0
#include "workload/traces/pod_list.h"

#include <algorithm>
#include <span>

#include "workload/text/text_file.h"
#include "workload/traces/trace_table.h"

namespace starling {
namespace {

enum Column : std::size_t {
  name,
  cpu_milli,
  memory_mib,
  num_gpu,
  gpu_milli,
  gpu_spec,
  creation_time,
  deletion_time
};
constexpr std::string_view kColumns[] = {"name",          "cpu_milli",    "memory_mib",
                                         "num_gpu",       "gpu_milli",    "gpu_spec",
                                         "creation_time", "deletion_time"};
constexpr std::size_t kAbsent = ~std::size_t{0};

Result<std::vector<std::size_t>> find_columns(const TraceRow& header) {
  std::vector<std::size_t> where;
  for (const std::string_view column : kColumns) {
    const auto at = std::find(header.fields.begin(), header.fields.end(), column);
    const bool found = at != header.fields.end();
    if (!found && where.size() < gpu_spec) {
      return header.wrong("column '" + std::string(column) +
                          "' is missing; a list of pods starts with "
                          "name,cpu_milli,memory_mib,num_gpu,gpu_milli");
    }
    where.push_back(found ? static_cast<std::size_t>(at - header.fields.begin()) : kAbsent);
  }
  if ((where[creation_time] == kAbsent) != (where[deletion_time] == kAbsent)) {
    return header.wrong(
        "creation_time and deletion_time stand together; add the other one or drop this one");
  }
  return where;
}

void read_models(TableRow& row, Pod& pod) {
  std::string_view rest = row.text(gpu_spec);
  while (!rest.empty()) {
    const std::size_t bar = rest.find('|');
    if (bar == 0 || bar + 1 == rest.size())
      return row.fail(gpu_spec, "names with | between them, as V100M16|P100");
    pod.gpu_models.emplace_back(rest.substr(0, bar));
    rest.remove_prefix(bar == std::string_view::npos ? rest.size() : bar + 1);
  }
}

void read_share(TableRow& row, Pod& pod) {
  const std::int64_t milli = row.whole(gpu_milli, 0, 1000);
  if (row.error()) return;
  if (pod.gpus == 0 && milli != 0) return row.fail(gpu_milli, "0, for num_gpu is 0");
  if (pod.gpus == 1 && milli == 0)
    return row.fail(gpu_milli, "1 to 1000, thousandths of the GPU that num_gpu asks for");
  if (pod.gpus > 1 && milli != 1000)
    return row.fail(gpu_milli, "1000: of several GPUs a pod has each as a whole");
  pod.gpu_milli = static_cast<std::uint32_t>(milli);
}

Pod read_pod(TableRow& row, const std::vector<std::size_t>& where) {
  constexpr std::int64_t kMost = 1'000'000'000;
  Pod pod;
  pod.name = row.text(name);
  pod.cpu_milli = row.whole(cpu_milli, 0, kMost);
  pod.memory_mib = row.whole(memory_mib, 0, kMost);
  pod.gpus = row.gpus(num_gpu);
  read_share(row, pod);
  if (where[gpu_spec] != kAbsent) read_models(row, pod);
  if (where[creation_time] != kAbsent) {
    pod.created = row.time(creation_time);
    pod.deleted = row.time(deletion_time);
    if (!row.error() && pod.deleted < pod.created)
      row.fail(deletion_time, "a time that is not before creation_time");
  }
  return pod;
}

Status read_rows(CsvReader& csv, const std::string& file, std::size_t columns,
                 const std::vector<std::size_t>& where, PodList& list) {
  std::vector<std::string_view> fields;
  while (csv.next(fields)) {
    const TraceRow row{fields, file, csv.line()};
    if (fields.size() != columns) {
      return row.wrong("has " + std::to_string(fields.size()) + " fields; the header has " +
                       std::to_string(columns));
    }
    TableRow cells(row, kColumns, where);
    Pod pod = read_pod(cells, where);
    if (cells.error()) return *cells.error();
    list.pods.push_back(std::move(pod));
  }
  if (csv.bad_quote()) {
    return TraceRow{fields, file, csv.line()}.wrong(
        "a quoted field does not end as it should; write \"...\" and double the quotes inside");
  }
  return done();
}

}  // namespace

Result<PodList> read_pods(const std::filesystem::path& file) {
  const Result<std::string> text = read_text_file(file);
  if (!text) return text.error();
  const std::string shown = file.string();
  CsvReader csv(text.value());
  std::vector<std::string_view> header;
  if (!csv.next(header))
    return {Errc::invalid, shown + ":1: is empty; a list of pods starts with a header line"};
  const auto where = find_columns(TraceRow{header, shown, csv.line()});
  if (!where) return where.error();
  PodList list;
  list.name = file.filename().string();
  list.timed = where.value()[creation_time] != kAbsent;
  if (Status read = read_rows(csv, shown, header.size(), where.value(), list); !read)
    return read.error();
  if (list.pods.empty())
    return {Errc::invalid, shown + ":2: there are no pods; one row is one pod"};
  return list;
}

}  // namespace starling
