// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_submit.h"
#include "launch/jobs/follow_job.h"
#include "launch/jobs/what_to_submit.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Of a file within a job, which knows who it is.
std::string expanded(const std::string& pattern) {
  std::string text;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      text += pattern[i];
      continue;
    }
    const std::string array = variable("SLURM_ARRAY_JOB_ID");
    switch (pattern[++i]) {
      case 'j':
        text += variable("SLURM_JOB_ID");
        break;
      case 'A':
        text += array.empty() ? variable("SLURM_JOB_ID") : array;
        break;
      case 'a':
        text += variable("SLURM_ARRAY_TASK_ID");
        break;
      case 't':
        text += variable("SLURM_PROCID");
        break;
      case 'n':
        text += variable("SLURM_NODEID");
        break;
      case 'N':
        text += variable("SLURMD_NODENAME");
        break;
      case 'x':
        text += variable("SLURM_JOB_NAME");
        break;
      case 'u':
        text += variable("USER");
        break;
      case 's':
        text += "0";
        break;
      case '%':
        text += '%';
        break;
      default:
        text += std::string("%") + pattern[i];
    }
  }
  return text;
}

bool print_to(const std::string& pattern, bool append, int target) {
  const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC);
  const int file = ::open(expanded(pattern).c_str(), flags, 0666);
  return file >= 0 && ::dup2(file, target) == target;
}

/// Within a job each of its workers runs the script, and so each becomes the task that it is.
int become(const SlurmSaid& said) {
  const bool append = said.text("open-mode").starts_with("a");
  const std::string output = said.text("output"), error = said.text("error");
  if ((!output.empty() && !print_to(output, append, 1)) ||
      (!error.empty() && !print_to(error, append, 2)))
    return slurm_error("srun", std::string("cannot open a file: ") + std::strerror(errno));
  if (!output.empty() && error.empty()) (void)::dup2(1, 2);
  if (const std::string folder = said.text("chdir");
      !folder.empty() && ::chdir(folder.c_str()) != 0)
    return slurm_error("srun", "cannot change to " + folder + ": " + std::strerror(errno));
  std::vector<char*> argv;
  for (const std::string& word : said.words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  ::execvp(argv.front(), argv.data());
  return slurm_error("srun", said.words.front() + ": " + std::strerror(errno));
}

}  // namespace

int run_srun(const Words& words) {
  auto read = read_slurm_words("srun", slurm_job_options(), words, true);
  if (!read) return slurm_error("srun", read.error().message);
  SlurmSaid& said = read.value();
  if (said.words.empty()) return slurm_error("srun", "No command given to execute.");
  if (!variable("SLURM_JOB_ID").empty() && !variable("STARLING_JOB").empty()) return become(said);
  SbatchOptions options;
  for (const auto& [name, values] : said.options) options[name] = values.back();
  if (options.contains("array"))
    return slurm_error("srun", "'--array' is not understood here; sbatch knows it");
  auto files = take_files(options);
  if (!files) return slurm_error("srun", files.error().message);
  const auto meaning = slurm_meaning({}, options);
  if (!meaning) return slurm_error("srun", meaning.error().message);
  SubmitWords submit;
  submit.options = meaning.value().options;
  submit.words = said.words;
  submit.dashes = true;
  auto what = what_to_submit(submit, Submitter::here());
  if (!what) return slurm_error("srun", what.error().message);
  JobSpec& job = what.value().jobs.front();
  catch_stop_signals();
  const auto flock = slurm_flock("srun");
  if (flock == nullptr) return 1;
  if (Status ready = ready_for("srun", *flock, job); !ready.ok())
    return slurm_error("srun", ready.error().message);
  if (Status found = find_others(*flock, meaning.value(), job); !found.ok())
    return slurm_error("srun", found.error().message);
  const auto id = short_id(*flock);
  if (!id) return slurm_error("srun", id.error().message);
  job.id = id.value();
  if (!files.value().output.empty()) print_into(files.value(), std::to_string(job.id.lo), job);
  if (Status handed = hand_over(*flock, job); !handed.ok())
    return slurm_error("srun", handed.error().message);
  return follow_job(*flock, job.id, {.cancel = true});
}

}  // namespace starling
