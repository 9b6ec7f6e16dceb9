// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "workload/job_terms.h"
#include "workload/run_details.h"

namespace starling {

/// What a user asks for. A gang: all workers start together or none does. Plain data; `check_job`
/// says whether it makes sense at all, `fits` in topology terms is the home's business.
struct JobSpec {
  JobId id;  ///< chosen by the client
  std::string name;
  std::string user;
  std::string queue;  ///< virtual cluster or queue of the trace
  std::string model;  ///< a name of the catalogue, or empty: unknown
  std::uint32_t workers = 1;
  std::uint32_t gpus_per_worker = 1;
  std::uint32_t min_workers = 0;  ///< 0: not elastic, otherwise 1..workers
  std::uint32_t max_workers = 0;  ///< 0: not elastic, otherwise >= workers
  double cpus_per_worker = 0;
  double memory_gib_per_worker = 0;
  std::vector<std::string> gpu_types;    ///< allowed types; empty: any
  std::int32_t priority = 0;             ///< larger is more urgent
  bool as_user = false;                  ///< `user` is proven by a key, and it runs as that user
  bool no_requeue = false;               ///< once started, it is never started again
  Duration duration{0};                  ///< isolated duration on its best placement; 0: unknown
  std::vector<std::string> command;      ///< argv; empty: emulated (runs for `duration` on Physics)
  std::vector<std::string> environment;  ///< NAME=value
  RunDetails run;
  JobTerms terms;
  /// It stands for an array: each of these becomes a job of its own, a task. Of what is to be
  /// submitted alone; no home sees it.
  std::vector<std::uint32_t> array_tasks;

  [[nodiscard]] std::uint32_t gpus() const noexcept { return workers * gpus_per_worker; }
  [[nodiscard]] bool elastic() const noexcept { return max_workers > 0; }
};

/// One line of a trace: a job and when it is submitted, counted from the start of the trace.
struct TraceJob {
  Duration submit{0};
  JobSpec spec;
};

/// The jobs of one experiment, by submit time; equal times keep the order of the file.
struct Trace {
  std::string name;
  std::vector<TraceJob> jobs;
  std::uint32_t dropped = 0;  ///< rows of the source that asked for no GPU or for 0 s
};

}  // namespace starling
