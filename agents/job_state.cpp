// SPDX-License-Identifier: Apache-2.0
#include "agents/job_state.h"

namespace starling {

const char* name_of(JobPhase phase) noexcept {
  switch (phase) {
    case JobPhase::unknown:
      return "unknown";
    case JobPhase::waiting:
      return "waiting";
    case JobPhase::starting:
      return "starting";
    case JobPhase::running:
      return "running";
    case JobPhase::draining:
      return "draining";
    case JobPhase::finished:
      return "finished";
    case JobPhase::failed:
      return "failed";
    case JobPhase::cancelled:
      return "cancelled";
    case JobPhase::moved:
      return "moved";
  }
  return "unknown";
}

const char* name_of(JobReason reason) noexcept {
  switch (reason) {
    case JobReason::none:
      return "none";
    case JobReason::held:
      return "held";
    case JobReason::begin:
      return "begin";
    case JobReason::dependency:
      return "dependency";
    case JobReason::retry:
      return "retry";
    case JobReason::array_limit:
      return "array limit";
    case JobReason::dependency_never:
      return "dependency never satisfied";
    case JobReason::quota:
      return "quota";
  }
  return "unknown";
}

const char* state_name(const JobState& state) noexcept {
  if (state.phase == JobPhase::failed && state.exit.timed_out) return "timeout";
  if (state.phase == JobPhase::waiting && state.reason == JobReason::held) return "held";
  return name_of(state.phase);
}

std::shared_ptr<const JobAsk> ask_of(const JobSpec& spec) {
  auto ask = std::make_shared<JobAsk>();
  ask->name = spec.name, ask->user = spec.user, ask->queue = spec.queue;
  for (const std::string& word : spec.command) {
    if (ask->command.size() >= JobAsk::kMostCommand) break;
    if (!ask->command.empty()) ask->command += ' ';
    ask->command.append(word, 0, JobAsk::kMostCommand);
  }
  if (ask->command.size() > JobAsk::kMostCommand) ask->command.resize(JobAsk::kMostCommand);
  ask->gpu_types = spec.gpu_types;
  ask->workers = spec.workers, ask->gpus_per_worker = spec.gpus_per_worker;
  ask->cpus_per_worker = spec.cpus_per_worker;
  ask->memory_gib_per_worker = spec.memory_gib_per_worker;
  ask->priority = spec.priority;
  ask->run = spec.run;
  ask->terms = spec.terms;
  if (spec.elastic()) ask->min_workers = spec.min_workers, ask->max_workers = spec.max_workers;
  return ask;
}

std::size_t bytes_of(const JobAsk& ask) noexcept {
  std::size_t bytes =
      64 + ask.name.size() + ask.user.size() + ask.queue.size() + ask.command.size();
  for (const std::string& type : ask.gpu_types) bytes += type.size() + 8;
  if (ask.terms.any()) bytes += 128 + sizeof(After) * ask.terms.after.size();
  return bytes;
}

}  // namespace starling
