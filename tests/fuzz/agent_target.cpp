// SPDX-License-Identifier: Apache-2.0
// A small flock under arbitrary instructions: real cores, a network and machines that misbehave.
#include <cstdio>

#include "agents/testing/testing.h"
#include "base/check.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr const char* kLost[] = {"Reserve", "Reserved", "Commit",   "Committed", "Start",
                                 "Started", "Release",  "Released", "Launch",    "LaunchResult",
                                 "Exited",  "Kill",     "Killed",   "Submit",    "Accepted"};

void one_step(TestFlock& flock, Script& script, std::uint64_t& jobs, std::uint32_t agents,
              std::uint32_t executors) {
  const std::uint32_t what = script.below(16);
  switch (what) {
    case 0:
    case 1:
    case 2:
      if (jobs < 12) {
        const Duration length = std::chrono::seconds(script.below(64));
        flock.submit(++jobs, 1 + script.below(9), length, script.below(agents));
      }
      return;
    case 3:
      if (jobs > 0) flock.cancel(1 + script.below(static_cast<std::uint32_t>(jobs)));
      return;
    case 4:
      flock.crash_agent(script.below(agents));
      return;
    case 5:
      flock.crash_executor(script.below(executors));
      return;
    case 6:
    case 7:
      if (const std::uint32_t a = script.below(agents); !flock.is_up(a)) {
        flock.restart_agent(a, script.below(2) == 1);
      }
      return;
    case 8: {
      const std::uint32_t e = script.below(executors);
      flock.crash_executor(e);
      flock.restart_executor(e);
      return;
    }
    case 9:
      flock.crash_agent_at(script.below(agents), 1 + script.below(20), script.below(2) == 1);
      return;
    case 10:
      flock.lose_next(kLost[script.below(std::size(kLost))], 1 + script.below(3));
      return;
    case 11:
      flock.refuse_next_launch(1);
      return;
    case 12:
      if (jobs > 0) {
        flock.set_exit_code(1 + script.below(static_cast<std::uint32_t>(jobs)),
                            static_cast<int>(script.below(3)));
      }
      return;
    case 13:
      flock.run_for(std::chrono::milliseconds(1 << script.below(16)));
      return;
    default:
      for (std::uint32_t n = script.below(32); n > 0 && flock.step(); --n) {
      }
  }
}

}  // namespace

void agent(FuzzBytes bytes) {
  Script script(bytes);
  FlockOptions options;
  options.agents = 1 + script.below(3);
  options.servers = options.agents * 2;
  options.lossy = true;
  options.delay = 1ms;
  options.jitter = 5ms;
  options.seed = script.below(256);
  if (script.below(2) == 1) options.policy = "srtf";
  TestFlock flock(options);
  std::uint64_t jobs = 0;
  for (int n = 0; n < 200 && script.more() && flock.faults().empty(); ++n) {
    one_step(flock, script, jobs, options.agents, options.servers);
  }
  if (flock.faults().empty()) return;
  for (const std::string& line : flock.take_transcript())
    std::fprintf(stderr, "%s\n", line.c_str());
  for (const std::string& fault : flock.faults()) std::fprintf(stderr, "%s\n", fault.c_str());
  STARLING_CHECK(flock.faults().empty());
}

}  // namespace starling::fuzz
