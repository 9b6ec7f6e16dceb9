// SPDX-License-Identifier: Apache-2.0
// Runs seeds of `starling chaos sim` in one process: SEEDS_MAIN MINUTES SEED.. For each it prints
// the seed, what was wrong (or "-") and the mutants that were passed, and ends with 1 at the first
// that fails.
#include <cstdio>
#include <cstdlib>

#include "sim/chaos/chaos.h"
#include "tests/mutants/mutant.h"

int main(int argc, char** argv) {
  using namespace starling;
  if (argc < 3) return 2;
  const PolicyRegistry policies = make_policy_registry();
  ChaosOptions options;
  options.faults_last = std::chrono::minutes(std::strtol(argv[1], nullptr, 10));
  options.twice_every = 0;
  for (int i = 2; i < argc; ++i) {
    const std::uint64_t seed = std::strtoull(argv[i], nullptr, 10);
    (void)mutants::passed();
    const auto run = run_chaos_seed(seed, policies, options);
    if (!run) return 2;
    const auto& failure = run.value().failure;
    std::printf("%llu\t%s\t%s\t%s\n", static_cast<unsigned long long>(seed),
                failure ? failure->rule.c_str() : "-", mutants::passed().c_str(),
                failure ? failure->message.substr(0, 120).c_str() : "");
    std::fflush(stdout);
    if (failure) return 1;
  }
}
