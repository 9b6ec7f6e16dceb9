// SPDX-License-Identifier: Apache-2.0
#include "workload/check_job.h"

#include <cmath>
#include <string_view>

#include "base/visible.h"
#include "workload/requirements.h"

namespace starling {
namespace {

constexpr std::size_t kGpuTypesMax = 64;
constexpr double kAmountMax = 1e6;  // cores or GiB of one worker

Error wrong(const std::string& field, const std::string& what) {
  return {Errc::invalid, field + ' ' + what};
}

Status check_name(const std::string& field, const std::string& name, const Limits& limits) {
  if (name.size() > limits.name_bytes) {
    return wrong(field, "has " + std::to_string(name.size()) + " bytes; at most " +
                            std::to_string(limits.name_bytes) + " are allowed");
  }
  if (!is_visible_line(name)) return wrong(field, "has control characters; use printable ones");
  return done();
}

Status check_sizes(const JobSpec& spec, const Limits& limits) {
  if (spec.workers == 0) return wrong("workers", "is 0; a job needs at least 1");
  if (spec.gpus_per_worker == 0)
    return wrong("gpus_per_worker", "is 0; a worker needs at least 1 GPU");
  const bool elastic = spec.min_workers > 0 || spec.max_workers > 0;
  if (spec.max_workers > 0 && spec.min_workers > spec.max_workers) {
    return wrong("min_workers", "is " + std::to_string(spec.min_workers) + ", above max_workers (" +
                                    std::to_string(spec.max_workers) +
                                    "); min_workers <= workers <= max_workers is right");
  }
  if (elastic && (spec.min_workers < 1 || spec.min_workers > spec.workers)) {
    return wrong("min_workers", "is " + std::to_string(spec.min_workers) + "; 1 to workers (" +
                                    std::to_string(spec.workers) +
                                    ") is right, or 0 for both min and max");
  }
  if (elastic && spec.max_workers < spec.workers) {
    return wrong("max_workers", "is " + std::to_string(spec.max_workers) + "; at least workers (" +
                                    std::to_string(spec.workers) +
                                    ") is right, or 0 for both min and max");
  }
  const std::uint64_t most =
      std::uint64_t{elastic ? spec.max_workers : spec.workers} * spec.gpus_per_worker;
  if (most > limits.gpus_per_job) {
    return wrong("gpus", "of the gang are " + std::to_string(most) + "; at most " +
                             std::to_string(limits.gpus_per_job) + " are allowed");
  }
  return done();
}

Status check_amount(const std::string& field, double amount) {
  if (std::isfinite(amount) && amount >= 0 && amount <= kAmountMax) return done();
  return wrong(field, "is " + std::to_string(amount) + "; a number from 0 to 1000000 is right");
}

Error wrong_number(const std::string& field, std::uint32_t is, const std::string& right) {
  return wrong(field, "is " + std::to_string(is) + "; " + right);
}

Status check_run(const JobSpec& spec) {
  const RunDetails& run = spec.run;
  const std::string to_most = " to " + std::to_string(RunDetails::kMost) + " is right";
  if (run.max_servers > RunDetails::kMost)
    return wrong_number("max_servers", run.max_servers, "0" + to_most);
  if (Status good = check_amount("server_cpus", run.server_cpus); !good) return good;
  if (run.server_cpus > 0 && servers_at(spec, 1) == 0)
    return wrong("server_cpus", "is given for no servers; say max_servers, too");
  if (!(cpus_of_worker(spec) <= kAmountMax)) {
    return wrong("server_cpus",
                 "and cpus are together more than 1000000 for a worker; fewer are right");
  }
  if (run.batch > RunDetails::kMost || (run.batch > 0 && run.batch < spec.gpus())) {
    return wrong_number(
        "batch", run.batch,
        std::to_string(spec.gpus()) + " (a sample for each GPU)" + to_most + ", or 0: not said");
  }
  if (run.max_batch > 0 && run.batch == 0) {
    return wrong_number("max_batch", run.max_batch, "say the batch that it is the largest of, too");
  }
  if (run.max_batch > RunDetails::kMost || (run.max_batch > 0 && run.max_batch < run.batch)) {
    return wrong_number("max_batch", run.max_batch,
                        std::to_string(run.batch) + " (the batch)" + to_most);
  }
  const std::pair<const char*, Duration> times[] = {{"save", run.save}, {"restore", run.restore}};
  for (const auto& [field, time] : times) {
    if (time < Duration::zero() || time > RunDetails::kMostRestart)
      return wrong(field,
                   "is " + std::to_string(seconds(time)) + " s; 0 to 604800 (a week) is right");
  }
  return done();
}

Status check_retries(const JobSpec& spec) {
  const JobTerms& terms = spec.terms;
  if (terms.retries > JobTerms::kMostRetries)
    return wrong_number("retries", terms.retries, "0 to 1000 is right");
  if (terms.retries > 0 && spec.no_requeue)
    return wrong("retries", "are asked for, and requeue: no says that it is never started again");
  if (terms.retries == 0 && terms.retry_after > Duration{0})
    return wrong("retry_after_s", "is given without retries");
  return done();
}

Status check_array(const JobSpec& spec) {
  const JobTerms& terms = spec.terms;
  if (!terms.of_array()) {
    if (terms.tasks == 0 && (terms.at_once == 0 || !spec.array_tasks.empty())) return done();
    return wrong("at_once", "is of tasks of an array, and this is none");
  }
  const bool good = terms.tasks >= 1 && terms.first_task <= terms.task &&
                    terms.task <= terms.last_task && terms.last_task <= JobTerms::kMostTask;
  return good ? done() : Status(wrong("array", "has no such task; 0 to 9999999 is right"));
}

Status check_terms(const JobSpec& spec) {
  const JobTerms& terms = spec.terms;
  const std::pair<const char*, Duration> times[] = {{"begin", terms.begin},
                                                    {"retry_after_s", terms.retry_after},
                                                    {"time_limit", terms.time_limit},
                                                    {"signal", terms.signal_before}};
  for (const auto& [field, time] : times) {
    if (time < Duration{0} || time > JobTerms::kMostTime)
      return wrong(field, "is " + std::to_string(seconds(time)) + " s; 0 to ten years is right");
  }
  if (terms.after.size() > JobTerms::kMostAfter) {
    return wrong("after", "names " + std::to_string(terms.after.size()) + " jobs; at most " +
                              std::to_string(JobTerms::kMostAfter) + " are allowed");
  }
  for (std::size_t i = 0; i < terms.after.size(); ++i) {
    if (terms.after[i].job == spec.id) return wrong("after", "names the job itself");
    for (std::size_t j = 0; j < i; ++j) {
      if (terms.after[i].job == terms.after[j].job) return wrong("after", "names a job twice");
    }
  }
  if (terms.signal > JobTerms::kMostSignal)
    return wrong_number("signal", terms.signal, "1 to 64 is right");
  if (terms.signal > 0 && terms.time_limit == Duration{0})
    return wrong("signal", "is sent before a time limit; say time_limit, too");
  if (terms.signal == 0 && terms.signal_before > Duration{0})
    return wrong("signal", "is missing, and when it is sent is not");
  if (Status good = check_retries(spec); !good) return good;
  return check_array(spec);
}

Status check_program(const JobSpec& spec, const Limits& limits) {
  std::size_t bytes = 0;
  for (const std::string& word : spec.command) {
    bytes += word.size() + 1;
    if (word.find('\0') != std::string::npos)
      return wrong("command", "has a zero byte; no program can be given one");
  }
  if (!spec.command.empty() && spec.command.front().empty()) {
    return wrong("command", "starts with an empty word; name a program, or leave the command out");
  }
  for (const std::string& entry : spec.environment) {
    bytes += entry.size() + 1;
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0 || entry.find('\0') != std::string::npos) {
      return wrong("environment",
                   "has the entry '" + entry.substr(0, 64) + "'; NAME=value is right");
    }
    if (!is_visible_line(std::string_view(entry).substr(0, equals))) {
      return wrong("environment", "has a name with control characters; use printable ones");
    }
  }
  if (bytes > limits.command_bytes) {
    return wrong("command", "and environment have " + std::to_string(bytes) + " bytes; at most " +
                                std::to_string(limits.command_bytes) + " are allowed");
  }
  return done();
}

}  // namespace

Status check_job(const JobSpec& spec, const Limits& limits) {
  const std::pair<const char*, const std::string*> names[] = {
      {"name", &spec.name}, {"user", &spec.user}, {"queue", &spec.queue}, {"model", &spec.model}};
  for (const auto& [field, name] : names) {
    if (Status good = check_name(field, *name, limits); !good) return good;
  }
  if (Status good = check_sizes(spec, limits); !good) return good;
  if (Status good = check_amount("cpus_per_worker", spec.cpus_per_worker); !good) return good;
  if (Status good = check_amount("memory_gib_per_worker", spec.memory_gib_per_worker); !good)
    return good;
  if (spec.gpu_types.size() > kGpuTypesMax) {
    return wrong("gpu_types", "names " + std::to_string(spec.gpu_types.size()) +
                                  " types; at most " + std::to_string(kGpuTypesMax) +
                                  " are allowed");
  }
  for (const std::string& type : spec.gpu_types) {
    if (type.empty())
      return wrong("gpu_types", "has an empty name; leave the list empty for any type");
    if (Status good = check_name("gpu_types", type, limits); !good) return good;
  }
  if (spec.duration < Duration::zero()) return wrong("duration", "is below 0 s; 0 means unknown");
  if (Status good = check_run(spec); !good) return good;
  if (Status good = check_terms(spec); !good) return good;
  return check_program(spec, limits);
}

}  // namespace starling
