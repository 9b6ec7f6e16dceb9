// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include "launch/commands/slurm/slurm_jobs.h"
#include "launch/commands/slurm/slurm_submit.h"
#include "launch/jobs/job_script.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/what_to_submit.h"
#include "launch/system/signals.h"
#include "workload/job_number.h"

namespace starling {
namespace {

/// What stands in the script, or on standard input.
Result<std::string> script_text(const Words& words) {
  std::string text;
  if (words.empty()) {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
  } else {
    std::ifstream file(words.front(), std::ios::binary);
    if (!file) return {Errc::invalid, "Unable to open file " + words.front()};
    text.assign(std::istreambuf_iterator<char>(file), {});
  }
  if (!is_script(text))
    return {
        Errc::invalid,
        "This does not look like a batch script.  The first line must start with #! followed by "
        "the path to an interpreter.  For instance: #!/bin/sh"};
  return text;
}

/// The job of a script or of --wrap, with what the options mean for it.
Result<JobSpec> job_of(const SlurmSaid& said, const SbatchMeaning& meaning,
                       const std::string& text) {
  SubmitWords words;
  words.options = meaning.options;
  if (said.has("wrap")) {
    words.words = {"/bin/sh", "-c", said.text("wrap")};
    words.dashes = true;
    if (!meaning.options.contains("--name")) words.options["--name"] = "wrap";
  } else if (said.words.empty()) {
    words.words = {"-"};
    words.input = [&] { return Result<std::string>(text); };
    if (!meaning.options.contains("--name")) words.options["--name"] = "sbatch";
  } else {
    words.words = said.words;
    words.words.insert(words.words.begin() + 1, "--");
  }
  auto what = what_to_submit(words, Submitter::here());
  if (!what) return what.error();
  return std::move(what.value().jobs.front());
}

int wait_for(FlockClient& flock, const std::vector<JobId>& ids) {
  int status = 0;
  for (const JobId& id : ids) {
    const auto ended = flock.ended(id, Duration::max());
    if (!ended) return slurm_error("sbatch", ended.error().message);
    if (status == 0) status = shell_status(ended.value());
  }
  return status;
}

int fail(const Error& error) {
  return slurm_error("sbatch", "Batch job submission failed: " + error.message);
}

}  // namespace

int run_sbatch(const Words& words) {
  auto read = read_slurm_words("sbatch", slurm_job_options(), words, true);
  if (!read) return slurm_error("sbatch", read.error().message);
  SlurmSaid& said = read.value();
  if (said.has("wrap") && !said.words.empty())
    return slurm_error("sbatch", "Script arguments not permitted with --wrap option");
  std::string text;
  SbatchOptions options;
  if (!said.has("wrap")) {
    const auto script = script_text(said.words);
    if (!script) return slurm_error("sbatch", script.error().message);
    text = script.value();
    const auto parsed =
        read_job_script(said.words.empty() ? "standard input" : said.words.front(), text);
    if (!parsed) return slurm_error("sbatch", parsed.error().message);
    options = parsed.value().slurm;
  }
  for (const auto& [name, values] : said.options) options[name] = values.back();
  options.erase("wrap");
  auto files = take_files(options);
  if (!files) return slurm_error("sbatch", files.error().message);
  const auto meaning = slurm_meaning({}, options);
  if (!meaning) return slurm_error("sbatch", meaning.error().message);
  auto made = job_of(said, meaning.value(), text);
  if (!made) return slurm_error("sbatch", made.error().message);
  JobSpec& job = made.value();
  catch_stop_signals();
  const auto flock = slurm_flock("sbatch");
  if (flock == nullptr) return 1;
  if (Status ready = ready_for("sbatch", *flock, job); !ready.ok()) return fail(ready.error());
  if (Status found = find_others(*flock, meaning.value(), job); !found.ok())
    return fail(found.error());
  if (files.value().output.empty())
    files.value().output = job.array_tasks.empty() ? "slurm-%j.out" : "slurm-%A_%a.out";
  if (const auto said_signal = meaning.value().options.find("--signal");
      said_signal != meaning.value().options.end() && !said_signal->second.starts_with("B:"))
    files.value().spared = job.terms.signal;
  const JobSpec plain = job;
  for (int tries = 0;; ++tries) {
    const auto id = short_id(*flock);
    if (!id) return fail(id.error());
    job = plain;
    job.id = id.value();
    print_into(files.value(), job_number(job.id), job);
    const Status handed = hand_over(*flock, job);
    if (handed.ok()) break;
    if (handed.error().code != Errc::conflict || tries == 3) return fail(handed.error());
  }
  const std::string number = job_number(job.id);
  std::printf(said.has("parsable") ? "%s\n" : "Submitted batch job %s\n", number.c_str());
  std::fflush(stdout);
  if (!meaning.value().wait) return 0;
  std::vector<JobId> ids;
  if (job.array_tasks.empty()) ids.push_back(job.id);
  if (!job.array_tasks.empty()) {
    const auto tasks = flock->jobs_named(number, true);
    if (!tasks) return slurm_error("sbatch", tasks.error().message);
    for (const JobState& state : tasks.value()) ids.push_back(state.job);
  }
  return wait_for(*flock, ids);
}

}  // namespace starling
