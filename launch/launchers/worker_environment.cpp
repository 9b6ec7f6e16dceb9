// SPDX-License-Identifier: Apache-2.0
#include "launch/launchers/worker_environment.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "agents/parts/gang_layout.h"
#include "base/hash.h"
#include "launch/launchers/slurm_environment.h"

namespace starling {
namespace {

void set(std::map<std::string, std::string>& names, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals != std::string::npos && equals > 0) {
    names[assignment.substr(0, equals)] = assignment.substr(equals + 1);
  }
}

/// What a login gives: this process's own variables are its operator's.
std::map<std::string, std::string> of_a_login() {
  std::map<std::string, std::string> names{
      {"PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, {"HOME", "/"}};
  std::vector<char> text(16'384);
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(::geteuid(), &entry, text.data(), text.size(), &found) == 0 &&
      found != nullptr) {
    names["USER"] = names["LOGNAME"] = found->pw_name;
    names["HOME"] = found->pw_dir;
    names["SHELL"] = found->pw_shell;
  }
  return names;
}

/// What the job's own environment says of it is for attempts that run as it asks.
void add(std::map<std::string, std::string>& names, const Allocation& how) {
  if (how.as_asked()) return;
  const auto say = [&](const char* name, std::uint32_t number) {
    names.erase(name);
    if (number > 0) names[name] = std::to_string(number);
  };
  say("STARLING_WORKERS", how.workers);
  say("STARLING_SERVERS", how.servers);
  say("STARLING_BATCH", how.local_batch);
  say("STARLING_ACCUMULATION", how.accumulation);
  say("STARLING_AVERAGED", how.averaged ? 1 : 0);
}

std::string list(std::uint32_t first, std::uint32_t last) {
  std::string text;
  for (std::uint32_t i = first; i < last; ++i)
    text += (text.empty() ? "" : ",") + std::to_string(i);
  return text;
}

}  // namespace

std::uint16_t master_port(const AttemptId& attempt) {
  const std::uint64_t mixed =
      mix64(attempt.job.hi ^
            mix64(attempt.job.lo ^ mix64(attempt.home_epoch.value ^ mix64(attempt.number))));
  return static_cast<std::uint16_t>(20'000 + mixed % 10'000);
}

std::vector<std::vector<std::string>> worker_environments(const LaunchSpec& spec,
                                                          const Topology& topology,
                                                          const EnvironmentOptions& options) {
  std::map<std::string, std::string> names = of_a_login();
  for (const std::string& assignment : spec.spec.environment) set(names, assignment);
  if (const JobLogin* login = options.login) {
    names["USER"] = names["LOGNAME"] = login->name;
    names["HOME"] = login->home;
    names["SHELL"] = login->shell;
  }

  const std::uint32_t per_worker = std::max(spec.spec.gpus_per_worker, 1U);
  const std::vector<GangPart> parts = gang_layout(spec.gang, per_worker, topology);
  const auto here = std::find_if(parts.begin(), parts.end(),
                                 [&](const GangPart& p) { return p.server == spec.server; });
  const std::uint32_t world =
      parts.empty() ? spec.local_workers : parts.back().first_rank + parts.back().workers;
  const std::string node = std::to_string(here == parts.end() ? 0 : here - parts.begin());
  const std::uint32_t first_gpu = topology.server(spec.server).gpus.first;
  const auto visible = [&](std::size_t first, std::size_t last) {
    std::string text;
    for (std::size_t i = first; i < last; ++i)
      text += (text.empty() ? "" : ",") + std::to_string(spec.gpus[i].value - first_gpu);
    return text;
  };
  char served[32];
  std::snprintf(served, sizeof served, "%.3f", seconds(spec.served));

  names["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID";
  names["CUDA_VISIBLE_DEVICES"] = visible(0, spec.gpus.size());
  names["WORLD_SIZE"] = std::to_string(world);
  names["LOCAL_WORLD_SIZE"] = std::to_string(spec.local_workers);
  names["GROUP_RANK"] = names["NODE_RANK"] = node;
  names["NNODES"] = std::to_string(std::max<std::size_t>(parts.size(), 1));
  names["MASTER_ADDR"] =
      options.address && !parts.empty() ? options.address(parts.front().server) : "127.0.0.1";
  names["MASTER_PORT"] = std::to_string(master_port(spec.attempt));
  names["STARLING_JOB"] = to_string(spec.attempt.job);
  names["STARLING_ATTEMPT"] = to_string(spec.attempt);
  names["STARLING_SERVED_S"] = served;
  names["STARLING_RUN"] = options.run_mark;
  add(names, spec.allocation);
  add_array(names, spec.spec.terms);
  add_slurm(names, spec, parts, topology);

  std::vector<std::vector<std::string>> workers(spec.local_workers);
  const auto gpus = static_cast<std::uint32_t>(spec.gpus.size());
  const auto choice = names.find("STARLING_VISIBLE_GPUS");
  const bool own = choice != names.end() && choice->second == "own";
  for (std::uint32_t i = 0; i < spec.local_workers; ++i) {
    names["RANK"] = std::to_string(spec.first_rank + i);
    names.erase("STARLING_STEPS");
    if (spec.first_rank + i == 0 && !options.steps_file.empty())
      names["STARLING_STEPS"] = options.steps_file;
    names["LOCAL_RANK"] = std::to_string(i);
    add_slurm_worker(names);
    const std::uint32_t first = std::min(i * per_worker, gpus);
    const std::uint32_t last = std::min((i + 1) * per_worker, gpus);
    if (own) names["CUDA_VISIBLE_DEVICES"] = visible(first, last);
    names["STARLING_WORKER_GPUS"] = own ? list(0, last - first) : list(first, last);
    for (const auto& [name, value] : names) workers[i].push_back(name + "=" + value);
  }
  return workers;
}

}  // namespace starling
