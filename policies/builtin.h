// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

namespace starling {

// One function per policy of this library, in its own file; registry.cpp calls them all.
void add_fifo(PolicyRegistry& registry);
void add_sjf(PolicyRegistry& registry);
void add_srtf(PolicyRegistry& registry);
void add_load_balance(PolicyRegistry& registry);
void add_consolidate(PolicyRegistry& registry);
void add_easy(PolicyRegistry& registry);
void add_tiresias(PolicyRegistry& registry);  ///< both: by attained service, by Gittins index
void add_gavel(PolicyRegistry& registry);
void add_drf(PolicyRegistry& registry);
void add_optimus(PolicyRegistry& registry);
void add_sia(PolicyRegistry& registry);
void add_smd(PolicyRegistry& registry);
void add_dl2(PolicyRegistry& registry);
void add_elasticflow(PolicyRegistry& registry);
void add_hadar(PolicyRegistry& registry);  ///< with hadare, which forks jobs
void add_pollux(PolicyRegistry& registry);
void add_tetris(PolicyRegistry& registry);
void add_rank(PolicyRegistry& registry);
void add_lif(PolicyRegistry& registry);
void add_smart_greedy(PolicyRegistry& registry);
void add_meta_rl(PolicyRegistry& registry);

}  // namespace starling
