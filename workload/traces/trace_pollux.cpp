// SPDX-License-Identifier: Apache-2.0
// Pollux (OSDI 2021): six applications with the number of replicas and the batch size that a user
// would ask for. The traces give no duration: it is the number of iterations to the target metric
// at that batch size (pollux/validation.csv.gz) times the step time on as few T4 servers of 4 as
// hold the job (placements.csv, scalability.csv; batch sizes in between interpolated, batches above
// what fits a GPU accumulated).
#include <algorithm>
#include <array>

#include "workload/traces/trace_table.h"

namespace starling {
namespace {

enum Column : std::size_t { name, time, application, num_replicas, batch_size };
constexpr std::string_view kColumns[] = {"name", "time", "application", "num_replicas",
                                         "batch_size"};

struct Run {
  std::string_view application;
  std::uint32_t replicas;
  std::uint32_t batch;
  std::uint32_t seconds;
};
constexpr auto kRuns = std::to_array<Run>({
    {"bert", 1, 12, 13614},         {"bert", 4, 48, 3572},         {"bert", 6, 384, 2773},
    {"bert", 8, 384, 2546},         {"bert", 12, 384, 1606},       {"bert", 16, 384, 1267},
    {"cifar10", 1, 128, 4028},      {"cifar10", 4, 512, 1165},     {"cifar10", 6, 2048, 825},
    {"cifar10", 8, 1024, 1318},     {"cifar10", 8, 2048, 826},     {"cifar10", 12, 4096, 572},
    {"cifar10", 16, 4096, 488},     {"deepspeech2", 1, 20, 19439}, {"deepspeech2", 4, 80, 6376},
    {"deepspeech2", 6, 320, 3952},  {"deepspeech2", 8, 160, 6140}, {"deepspeech2", 8, 320, 3501},
    {"deepspeech2", 12, 640, 2542}, {"imagenet", 8, 1600, 79621},  {"imagenet", 16, 3200, 46183},
    {"imagenet", 24, 3200, 31283},  {"imagenet", 32, 6400, 26207}, {"imagenet", 48, 6400, 18835},
    {"ncf", 1, 256, 1444},          {"ncf", 1, 32768, 33},         {"ncf", 4, 1024, 587},
    {"ncf", 8, 2048, 927},          {"yolov3", 1, 8, 33738},       {"yolov3", 2, 16, 18869},
    {"yolov3", 4, 32, 13740},       {"yolov3", 4, 64, 11083},      {"yolov3", 8, 64, 23860},
    {"yolov3", 16, 128, 8926},
});

TraceRowJob read(TableRow& row) {
  TraceRowJob out;
  JobSpec& spec = out.job.spec;
  spec.name = row.text(name);
  spec.model = row.text(application);
  out.job.submit = row.time(time);
  const std::uint32_t gpus = row.gpus(num_replicas);
  const std::int64_t batch = row.whole(batch_size, 1, 1 << 24);
  set_gang(spec, gpus);
  const auto run = std::find_if(kRuns.begin(), kRuns.end(), [&](const Run& r) {
    return r.application == spec.model && r.replicas == gpus && r.batch == batch;
  });
  if (run != kRuns.end()) {
    spec.duration = std::chrono::seconds(run->seconds);
  } else if (gpus > 0 && !row.error()) {
    row.fail(application,
             "an application, replicas and batch of the published workloads; the time "
             "that " +
                 std::to_string(gpus) + " replicas take with a batch of " + std::to_string(batch) +
                 " is not known");
  }
  out.dropped = gpus == 0;
  return out;
}

}  // namespace

const TraceTable kPolluxTable = {"pollux", kColumns, read};

}  // namespace starling
