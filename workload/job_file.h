// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "workload/job.h"

namespace starling {

/// Reads a job file: one YAML mapping, or a list of them. Keys, all optional but one of `command`
/// and `duration_s`:
///
///   name, user, queue, model       text
///   command                        a shell line, or a list: program and arguments
///   duration_s                     of an emulated job, alone on its best placement
///   workers, gpus_per_worker       the gang; 1 each
///   min_workers, max_workers       both or none: the job is elastic
///   cpus, memory_gib               per worker
///   gpu_types                      one name or a list; any type if left out
///   max_servers, server_cpus       trains by parameter servers: how many at most, CPUs of each
///   batch, max_batch               samples of one step at the size asked for, and at most
///   copies                         yes: may be forked into copies that are averaged
///   save_s, restore_s              what a stop costs, and from a start to the first step
///   priority                       whole number, larger is more urgent
///   environment                    mapping of names to values
///   directory                      to run in (directory.h); a relative one is the submitter's
///                                  business
///
/// The jobs carry no id: the client that submits them chooses it. Every job has passed check_job.
/// `invalid` names file:line:column, what is wrong and what would be right; `io` if the file cannot
/// be read.
[[nodiscard]] Result<std::vector<JobSpec>> read_job_file(const std::filesystem::path& file,
                                                         const Limits& limits = {});
/// The same of a text; `name` is what messages call it.
[[nodiscard]] Result<std::vector<JobSpec>> parse_job_file(const std::string& name,
                                                          const std::string& text,
                                                          const Limits& limits = {});

}  // namespace starling
