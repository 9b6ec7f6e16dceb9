// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_names.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"

namespace starling {
namespace {

constexpr SlurmName kNames[] = {
    {"sbatch", "submit a script", run_sbatch},
    {"srun", "run a command: within a job here, else as a job of its own", run_srun},
    {"squeue", "jobs that wait or run", run_squeue},
    {"sinfo", "servers and their states", run_sinfo},
    {"scancel", "end jobs", run_scancel},
    {"sacct", "jobs, also those that are over", run_sacct},
    {"scontrol", "show, hold, release, requeue", run_scontrol},
};

const SlurmName* named(const std::string& name) {
  for (const SlurmName& one : kNames) {
    if (name == one.name) return &one;
  }
  return nullptr;
}

int make_links(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path program = fs::canonical("/proc/self/exe", error);
  if (error) return work_failed("slurm: cannot tell where this program is: " + error.message());
  fs::create_directories(folder, error);
  for (const SlurmName& one : kNames) {
    const fs::path link = fs::path(folder) / one.name;
    if (fs::is_symlink(link, error)) fs::remove(link, error);
    fs::create_symlink(program, link, error);
    if (error) return work_failed("slurm: cannot make '" + link.string() + "': " + error.message());
  }
  std::printf("%s: sbatch, srun, squeue, sinfo, scancel, sacct, scontrol\n", folder.c_str());
  return kDone;
}

}  // namespace

std::span<const SlurmName> slurm_names() { return kNames; }

std::optional<int> run_slurm_name(int argc, char** argv) {
  if (argc < 1) return std::nullopt;
  const SlurmName* one = named(std::filesystem::path(argv[0]).filename().string());
  int first = 1;
  if (one == nullptr && argc > 2 && std::string(argv[1]) == "slurm") {
    one = named(argv[2]);
    first = 3;
  }
  if (one == nullptr) return std::nullopt;
  const Words words(argv + first, argv + argc);
  if (words.size() == 1 && words.front() == "--version") {
    std::printf("slurm 22.05 (starling)\n");
    return kDone;
  }
  if (words.size() == 1 && words.front() == "--help") {
    std::printf("%s: %s, on the flock of $STARLING_FLOCK.\n", one->name, one->does);
    std::printf("What is understood stands in docs/jobs.md; what is not is refused by name.\n");
    return kDone;
  }
  return one->run(words);
}

void add_slurm(const Command& root) {
  const auto folder = std::make_shared<std::string>();
  const Command command =
      root.sub("slurm", "Slurm's commands on a flock: starling slurm sbatch train.sbatch");
  for (const SlurmName& one : kNames) {
    const auto words = std::make_shared<Words>();
    const Command sub = command.sub(one.name, one.does);
    sub.rest("WORDS", *words, std::string("as ") + one.name + " takes them; docs/jobs.md");
    sub.action([words, run = one.run] { return run(*words); });
  }
  const Command links = command.sub("links", "make links of these names, for a folder on PATH");
  links.positional("FOLDER", *folder, "where to");
  links.examples({"starling slurm links ~/slurm && PATH=~/slurm:$PATH sbatch train.sbatch"});
  links.action([folder] { return make_links(*folder); });
  command.examples({"starling slurm sbatch -n 4 --gpus-per-task=1 train.sbatch",
                    "starling slurm squeue --me", "starling slurm links ~/slurm"});
}

}  // namespace starling
