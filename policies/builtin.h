// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policies/registry.h"

/// The policies of this library: each is a function add_NAME() somewhere below policies/.
/// `tiresias` is both, by attained service and by Gittins index; `hadar` brings hadare, which forks
/// jobs.
// clang-format off
#define STARLING_POLICIES(EACH) \
  EACH(consolidate) \
  EACH(dl2) \
  EACH(drf) \
  EACH(easy) \
  EACH(elasticflow) \
  EACH(fifo) \
  EACH(gavel) \
  EACH(hadar) \
  EACH(lif) \
  EACH(load_balance) \
  EACH(meta_rl) \
  EACH(optimus) \
  EACH(pollux) \
  EACH(rank) \
  EACH(sia) \
  EACH(sjf) \
  EACH(smart_greedy) \
  EACH(smd) \
  EACH(srtf) \
  EACH(starling) \
  EACH(tetris) \
  EACH(themis) \
  EACH(tiresias)
// clang-format on

namespace starling {

#define STARLING_DECLARE_POLICY(name) void add_##name(PolicyRegistry& registry);
STARLING_POLICIES(STARLING_DECLARE_POLICY)
#undef STARLING_DECLARE_POLICY

}  // namespace starling
