// SPDX-License-Identifier: Apache-2.0
// The guardian's program: small, and carried inside `starling`, so that its start costs little and
// nothing has to be installed beside that.
#include <cstdio>

#include "launch/guardian/guardian.h"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("starling-guardian: executors start it, with the folder of a part\n", stderr);
    return 2;
  }
  return starling::guard(argv[1]);
}
