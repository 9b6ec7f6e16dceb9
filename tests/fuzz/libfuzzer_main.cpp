// SPDX-License-Identifier: Apache-2.0
// One target under libFuzzer: STARLING_FUZZ_TARGET names it.
#include <cstddef>

#include "tests/fuzz/targets.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  starling::fuzz::STARLING_FUZZ_TARGET({data, size});
  return 0;
}
