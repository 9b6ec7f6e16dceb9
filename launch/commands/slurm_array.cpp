// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm_array.h"

#include <algorithm>
#include <chrono>
#include <sstream>
#include <thread>

#include "launch/processes/shell_word.h"
#include "launch/processes/subprocess.h"
#include "launch/system/amount.h"
#include "launch/system/files.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

constexpr int kPollsFailedMost = 30;  // of squeue, in a row
constexpr std::chrono::seconds kEvery{2};

Error refused(const std::string& program, const Finished& ran) {
  if (ran.status == 127)
    return {Errc::io, "--on slurm: " + program + " is not here; run this where sbatch works"};
  return {Errc::io, "--on slurm: " + program + ": " + last_words(ran)};
}

std::string list_of(const std::vector<std::uint32_t>& parts) {
  std::string text;
  for (const std::uint32_t part : parts) text += (text.empty() ? "" : ",") + std::to_string(part);
  return text;
}

std::string script_of(const SlurmArray& array, const std::vector<std::uint32_t>& parts) {
  std::string text =
      "#!/bin/sh\n#SBATCH --array=" + list_of(parts) +
      "\n#SBATCH --job-name=" + shell_word("starling-" + array.name) +
      "\n#SBATCH --output=" + shell_word((array.out / "slurm/part-%a.log").string()) +
      "\n#SBATCH --open-mode=append\n";
  if (!array.options.empty()) text += "#SBATCH " + array.options + "\n";
  text += "exec";
  for (const std::string& word : array.command) text += " " + shell_word(word);
  return text + " --part \"$SLURM_ARRAY_TASK_ID/" + std::to_string(array.parts) + "\" --out " +
         shell_word(array.out.string()) + " --quiet\n";
}

Result<std::string> submit(const SlurmArray& array, const std::vector<std::uint32_t>& parts) {
  const fs::path script = array.out / "slurm" / "array.sh";
  if (auto written = write_text(script, script_of(array, parts)); !written.ok())
    return written.error();
  const Finished ran = run_program({"sbatch", "--parsable", script.string()});
  if (!ran.ok()) return refused("sbatch", ran);
  const std::string id = ran.out.substr(0, ran.out.find_first_of(";\n"));
  if (auto kept = write_text(array.out / "slurm" / "id", id + "\n"); !kept.ok())
    return kept.error();
  return id;
}

/// Tasks of the array that are in the queue. One that Slurm has forgotten has none.
Result<std::size_t> tasks_of(const std::string& id) {
  const Finished ran =
      run_program({"squeue", "--noheader", "--array", "--jobs", id, "--format=%K"});
  if (!ran.ok()) {
    if (ran.err.find("Invalid job id") != std::string::npos) return std::size_t{0};
    return refused("squeue", ran);
  }
  return static_cast<std::size_t>(std::count(ran.out.begin(), ran.out.end(), '\n'));
}

Status watch(const SlurmArray& array, const std::string& id) {
  int failed = 0;
  for (std::size_t before = ~std::size_t{0};;) {
    if (stop_requested())
      return {Errc::busy, "array " + id + " goes on; the same command watches it again, 'scancel " +
                              id + "' ends it"};
    const auto tasks = tasks_of(id);
    if (!tasks && ++failed >= kPollsFailedMost) return tasks.error();
    if (tasks) failed = 0;
    if (tasks && tasks.value() == 0) return done();
    if (tasks && tasks.value() != before) {
      before = tasks.value();
      array.say("array " + id + ": " + amount(before, "part") + " in the queue");
    }
    for (int i = 0; i < 20 && !stop_requested(); ++i) std::this_thread::sleep_for(kEvery / 20);
  }
}

}  // namespace

Status run_array(const SlurmArray& array) {
  if (auto made = make_folder(array.out / "slurm"); !made.ok()) return made;
  std::string id;
  if (const auto kept = read_text(array.out / "slurm" / "id"); kept.ok())
    id = kept.value().substr(0, kept.value().find('\n'));
  if (!id.empty() &&
      std::all_of(id.begin(), id.end(), [](char c) { return c >= '0' && c <= '9'; })) {
    const auto tasks = tasks_of(id);
    if (tasks && tasks.value() > 0) {
      if (Status ended = watch(array, id); !ended.ok()) return ended;
    }
  }
  for (auto left = array.left(); !left.empty(); left = array.left()) {
    const std::uint64_t before = array.runs_left();
    const auto fresh = submit(array, left);
    if (!fresh) return fresh.error();
    array.say("array " + fresh.value() + ": " + amount(left.size(), "part") + " submitted");
    if (Status ended = watch(array, fresh.value()); !ended.ok()) return ended;
    if (before > 0 && array.runs_left() == before)
      return {Errc::io, "--on slurm: an array of " + amount(left.size(), "part") +
                            " has done none of the " + amount(before, "run") +
                            " that are left; its logs are " +
                            (array.out / "slurm/part-*.log").string()};
  }
  return done();
}

}  // namespace starling
