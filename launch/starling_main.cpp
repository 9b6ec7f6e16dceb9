// SPDX-License-Identifier: Apache-2.0
// The program `starling`: reads the command line and runs the one command that it names.
#include <fcntl.h>

#include <cstdio>
#include <cstdlib>

#include "base/planted.h"
#include "launch/command_line/cli.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/flock/gateway.h"
#include "launch/commands/learning.h"
#include "launch/commands/slurm/slurm_names.h"

namespace {

/// The next files that are opened would take the place of a standard one that is closed, and what
/// is printed would be written into them. So writing says no, as to a closed one.
void keep_closed() {
  for (int file = 0; file < 3; ++file)
    if (::fcntl(file, F_GETFD) < 0 && ::open("/dev/null", file == 0 ? O_WRONLY : O_RDONLY) < 0)
      return;
}

}  // namespace

int main(int argc, char** argv) {
  using namespace starling;
  keep_closed();
  if (const char* bug = std::getenv("STARLING_BUG");
      bug != nullptr && *bug != 0 && !has_planted_bugs())
    return bad_input(
        "STARLING_BUG is set, but this program was built without planted mistakes: build "
        "the preset 'plant', or practise with 'starling chaos sim --demo'");
  if (const auto status = run_slurm_name(argc, argv)) return ended(*status);
  CommandLine line("starling", "Cooperating schedulers for deep-learning clusters.",
                   STARLING_VERSION);
  const Command root = line.root();
  for (const auto add :
       {add_sim,         add_run,      add_up,       add_down,   add_restart,   add_configure,
        add_submit,      add_jobs,     add_history,  add_cancel, add_hold,      add_release,
        add_requeue,     add_slurm,    add_explain,  add_logs,   add_top,       add_drain,
        add_queues,      add_members,  add_gateway,  add_backup, add_restore,   add_accept_loss,
        add_topology,    add_workload, add_policies, add_keys,   add_agent,     add_executor,
        add_node,        add_bench,    add_chaos,    add_pack,   add_reproduce, add_experiment,
        add_leaderboard, add_report,   add_view,     add_fit,    add_train,     add_interference,
        add_profile})
    add(root);
  const Command completion =
      root.sub("completion", "a script for the shell: source <(starling completion bash)");
  struct Shell {
    const char* name;
    std::string (*script)(const std::string&, const std::vector<CompletedCommand>&);
  };
  for (const Shell& shell : {Shell{"bash", bash_completion}, Shell{"zsh", zsh_completion},
                             Shell{"fish", fish_completion}}) {
    completion.sub(shell.name, std::string("for ") + shell.name).action([&line, shell] {
      std::fputs(shell.script("starling", line.completed()).c_str(), stdout);
      return 0;
    });
  }
  std::string folder;
  const Command manual = root.sub("manual", "writes a page of the manual for each command");
  manual.positional("FOLDER", folder, "where to, such as /usr/local/share/man/man1");
  manual.examples({"starling manual man1 && man ./man1/starling-submit.1"});
  manual.action([&line, &folder] {
    const auto written = write_manual(folder, "starling", STARLING_VERSION, line.helps());
    if (!written) return failed(written.error());
    std::printf("%zu pages in %s\n", written.value(), folder.c_str());
    return 0;
  });
  root.examples({"starling topology generate leaf-spine --servers 64 --gpus 8 -o cluster.yaml",
                 "starling workload generate --jobs 2000 --gpus 512 -o trace.csv",
                 "starling sim --topology cluster.yaml --trace trace.csv --policy consolidate "
                 "--agents 4 --out results"});
  return ended(line.run(argc, argv));
}
