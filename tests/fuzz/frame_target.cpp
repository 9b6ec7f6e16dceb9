// SPDX-License-Identifier: Apache-2.0
// What other processes hand to a node.
#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/check.h"
#include "bus/wire/codec.h"
#include "tests/fuzz/targets.h"

namespace starling::fuzz {

void frame(FuzzBytes bytes) {
  static Codec codec, second;
  const Result<Frame> got = codec.decode(std::as_bytes(bytes));
  if (!got) return;
  const auto again = second.encode(got.value().header, got.value().message);
  const std::vector<std::byte> copy(again.begin(), again.end());
  const Result<Frame> back = codec.decode(copy);
  STARLING_CHECK(back.ok());
  const auto third = second.encode(back.value().header, back.value().message);
  STARLING_CHECK(std::equal(third.begin(), third.end(), copy.begin(), copy.end()));
}

}  // namespace starling::fuzz
