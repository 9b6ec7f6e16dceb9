// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/misbehave.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/test_folder.h"

using namespace starling;
using namespace starling::chaos_live;

TEST_CASE("chaos live: a job lays FIFOs where its steps and its log are") {
  const TestFolder folder("misbehave");
  const auto steps = folder.path / "1.1.1.s0.steps", log = folder.path / "1.1.1.s0.log";
  std::ofstream(log) << "said before\n";
  ::setenv("STARLING_STEPS", steps.c_str(), 1);
  misbehave(Manner::fifo_steps);
  misbehave(Manner::fifo_log);
  ::unsetenv("STARLING_STEPS");
  CHECK(std::filesystem::is_fifo(steps));
  CHECK(std::filesystem::is_fifo(log));
}
