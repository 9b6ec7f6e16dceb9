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
  add_sim(root);
  add_run(root);
  add_up(root);
  add_down(root);
  add_restart(root);
  add_configure(root);
  add_submit(root);
  add_jobs(root);
  add_history(root);
  add_cancel(root);
  add_hold(root);
  add_release(root);
  add_requeue(root);
  add_slurm(root);
  add_explain(root);
  add_logs(root);
  add_top(root);
  add_drain(root);
  add_members(root);
  add_gateway(root);
  add_backup(root);
  add_restore(root);
  add_accept_loss(root);
  add_topology(root);
  add_workload(root);
  add_policies(root);
  add_keys(root);
  add_agent(root);
  add_executor(root);
  add_node(root);
  add_bench(root);
  add_chaos(root);
  add_pack(root);
  add_reproduce(root);
  add_experiment(root);
  add_report(root);
  add_view(root);
  add_fit(root);
  add_train(root);
  add_interference(root);
  add_profile(root);
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
