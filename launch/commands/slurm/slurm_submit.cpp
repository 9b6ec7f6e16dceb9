// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_submit.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/visible.h"
#include "launch/client/job_array.h"
#include "launch/client/placeable.h"
#include "workload/job_number.h"

namespace starling {
namespace {

using Takes = SlurmOption::Takes;
constexpr SlurmOption kOptions[] = {
    {'J', "job-name", Takes::value},
    {'N', "nodes", Takes::value},
    {'n', "ntasks", Takes::value},
    {0, "ntasks-per-node", Takes::value},
    {'c', "cpus-per-task", Takes::value},
    {'G', "gpus", Takes::value},
    {0, "gres", Takes::value},
    {0, "gpus-per-node", Takes::value},
    {0, "gpus-per-task", Takes::value},
    {0, "mem", Takes::value},
    {0, "mem-per-cpu", Takes::value},
    {0, "mem-per-gpu", Takes::value},
    {'t', "time", Takes::value},
    {0, "signal", Takes::value},
    {'p', "partition", Takes::value},
    {'D', "chdir", Takes::value},
    {0, "export", Takes::value},
    {'o', "output", Takes::value},
    {'e', "error", Takes::value},
    {'i', "input", Takes::value},
    {0, "open-mode", Takes::value},
    {'a', "array", Takes::value},
    {'d', "dependency", Takes::value},
    {'b', "begin", Takes::value},
    {'H', "hold"},
    {0, "nice", Takes::perhaps},
    {0, "priority", Takes::value},
    {0, "requeue"},
    {0, "no-requeue"},
    {'W', "wait"},
    {0, "parsable"},
    {'Q', "quiet"},
    {'v', "verbose"},
    {0, "wrap", Takes::value},
    // Without effect here, and harmless.
    {'A', "account", Takes::value},
    {'q', "qos", Takes::value},
    {0, "wckey", Takes::value},
    {0, "comment", Takes::value},
    {0, "mail-type", Takes::value},
    {0, "mail-user", Takes::value},
    {'m', "distribution", Takes::value},
    {'k', "no-kill", Takes::perhaps},
    {0, "kill-on-bad-exit", Takes::perhaps},
    {'K', "kill-on-bad-exit", Takes::perhaps},
    {'u', "unbuffered"},
    {0, "cpu-bind", Takes::value},
    {0, "gpu-bind", Takes::value},
    {0, "hint", Takes::value},
};
constexpr const char* kIgnored[] = {
    "account",      "qos",        "wckey",    "comment",  "mail-type", "mail-user",       "no-kill",
    "distribution", "unbuffered", "cpu-bind", "gpu-bind", "hint",      "kill-on-bad-exit"};

/// What a pattern is: text for a shell, where what differs from server to server is a variable.
std::string shell_text(const std::string& pattern, const std::string& number, const JobSpec& job) {
  const bool array = !job.array_tasks.empty();
  std::string text = "'";
  const auto plain = [&](const std::string& part) {
    for (const char c : part) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  };
  const auto variable = [&](const char* name) { text += std::string("'\"$") + name + "\"'"; };
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      plain(std::string(1, pattern[i]));
      continue;
    }
    ++i;
    while (pattern[i] >= '0' && pattern[i] <= '9' && i + 1 < pattern.size()) ++i;  // a width
    switch (pattern[i]) {
      case '%':
        plain("%");
        break;
      case 'j':
      case 'J':
        array ? variable("SLURM_JOB_ID") : plain(number);
        break;
      case 'A':
        plain(number);
        break;
      case 'a':
        array ? variable("SLURM_ARRAY_TASK_ID") : plain("4294967294");
        break;
      case 'x':
        plain(job.name);
        break;
      case 'u':
        plain(job.user);
        break;
      case 'N':
        variable("SLURMD_NODENAME");
        break;
      case 't':
        variable("SLURM_PROCID");
        break;
      case 'n':
        variable("SLURM_NODEID");
        break;
      default:
        plain(std::string("%") + pattern[i]);
    }
  }
  return text + "'";
}

}  // namespace

std::span<const SlurmOption> slurm_job_options() { return kOptions; }

Result<SbatchMeaning> slurm_meaning(const SlurmSaid& said, SbatchOptions options) {
  for (const auto& [name, values] : said.options) options[name] = values.back();
  for (const char* ignored : kIgnored) options.erase(ignored);
  auto meaning = meaning_of(std::move(options));
  if (!meaning) return meaning;
  if (!meaning.value().ignored.empty()) {
    return {Errc::invalid, "'" + meaning.value().ignored.front() +
                               "' is not understood here; 'starling slurm sbatch --help' and "
                               "docs/jobs.md say what is"};
  }
  return meaning;
}

Result<SlurmFiles> take_files(SbatchOptions& options) {
  const auto take = [&](const char* name) {
    const auto at = options.find(name);
    if (at == options.end()) return std::string();
    std::string text = std::move(at->second);
    options.erase(at);
    return text;
  };
  SlurmFiles files{take("output"), take("error"), false, 0};
  files.append = take("open-mode").starts_with("a");
  if (const std::string input = take("input");
      !input.empty() && input != "none" && input != "/dev/null")
    return {Errc::invalid, "'--input' is not understood here: jobs read nothing"};
  return files;
}

void print_into(const SlurmFiles& files, const std::string& number, JobSpec& job) {
  // Several workers would empty one another's.
  const char* const into = files.append || job.workers > 1 ? ">>" : ">";
  std::string script =
      files.spared > 0 ? "trap '' " + std::to_string(files.spared) + "\n" : std::string();
  script += std::string("exec ") + into + shell_text(files.output, number, job);
  script += files.error.empty() ? " 2>&1"
                                : std::string(" 2") + into + shell_text(files.error, number, job);
  std::vector<std::string> command{"/bin/sh", "-c", script + "\nexec \"$@\"", "sbatch"};
  command.insert(command.end(), job.command.begin(), job.command.end());
  job.command = std::move(command);
}

Status ready_for(const char* command, FlockClient& flock, JobSpec& job) {
  if (Status can = flock.can_run(job); !can.ok()) return can;
  const std::string unknown = unknown_gpu_types(flock.topology(), job);
  if (!unknown.empty())
    std::fprintf(stderr, "%s: warning: %s\n", command, visible_line(unknown).c_str());
  job.environment.push_back("STARLING_SLURM=1");
  return flock.set_user(job);
}

Result<JobId> short_id(FlockClient& flock) {
  constexpr std::uint64_t kLeast = 100'000'000'000;  // twelve digits
  const auto drawn = flock.new_id();
  if (!drawn) return drawn.error();
  const std::uint64_t agents = flock.agents();
  std::uint64_t number = kLeast + drawn.value().hi % (9 * kLeast);
  number += agents - number % agents + drawn.value().lo % agents;  // the same home
  return JobId{0, number};
}

Status hand_over(FlockClient& flock, const JobSpec& job) {
  if (!job.array_tasks.empty()) return flock.submit_all(expand_array(job, flock.agents()));
  const auto said = flock.submit(job);
  if (!said) return said.error();
  if (flock.instead_of(job, said.value())) return {Errc::conflict, "the job's number is taken"};
  return done();
}

Status find_others(FlockClient& flock, const SbatchMeaning& meaning, JobSpec& job) {
  const auto after = meaning.options.find("--after");
  if (after == meaning.options.end()) return done();
  auto others = flock.others(after->second, true);
  if (!others) return {others.error().code, "Job dependency problem: " + others.error().message};
  job.terms.after = std::move(others).value();
  return done();
}

}  // namespace starling
