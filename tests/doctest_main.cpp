// SPDX-License-Identifier: Apache-2.0
// The main program of every unit-test binary: as doctest's own, but for tests that need the
// published data sets. Where all pass and data was absent it says so and ends with 77.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>

#include "base/test_data.h"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int failed = context.run();
  const auto& absent = starling::absent_test_data();
  if (failed != 0 || context.shouldExit() || absent.empty()) return failed;
  constexpr int kSkipped = 77;
  std::printf("SKIPPED for lack of published data: %zu files, as %s\n", absent.size(),
              absent.begin()->c_str());
  return kSkipped;
}
