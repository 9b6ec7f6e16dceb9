// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/command_line/cli.h"

namespace starling {

// One function per command of the program: adds it, its options and what it does. The action
// owns the options, so they live as long as the command line.
void add_sim(const Command& root);
void add_run(const Command& root);
void add_agent(const Command& root);
void add_executor(const Command& root);
void add_up(const Command& root);
void add_down(const Command& root);
void add_restart(const Command& root);
void add_configure(const Command& root);
void add_node(const Command& root);
void add_submit(const Command& root);
void add_jobs(const Command& root);
void add_history(const Command& root);
void add_cancel(const Command& root);
void add_hold(const Command& root);
void add_release(const Command& root);
void add_requeue(const Command& root);
void add_slurm(const Command& root);
void add_explain(const Command& root);
void add_logs(const Command& root);
void add_top(const Command& root);
void add_topology(const Command& root);
void add_topology_generate(const Command& topology);
void add_topology_discover(const Command& topology);
void add_topology_draw(const Command& topology);
void add_topology_state(const Command& topology);
void add_workload(const Command& root);
void add_workload_generate(const Command& workload);
void add_fit(const Command& root);
void add_profile(const Command& root);
void add_policies(const Command& root);
void add_keys(const Command& root);
void add_bench(const Command& root);
void add_chaos(const Command& root);
void add_members(const Command& root);
void add_drain(const Command& root);
void add_queues(const Command& root);
void add_chaos_live(const Command& chaos);
void add_chaos_sim(const Command& chaos);
void add_chaos_etcd(const Command& chaos);
void add_accept_loss(const Command& root);
void add_backup(const Command& root);
void add_restore(const Command& root);
void add_pack(const Command& root);
void add_reproduce(const Command& root);
void add_experiment(const Command& root);
void add_leaderboard(const Command& root);
void add_report(const Command& root);
void add_view(const Command& root);

}  // namespace starling
