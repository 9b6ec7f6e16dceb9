// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

#include "agents/record.h"

namespace starling {

/// For tests in which a writer dies. Batch n: its number, as often as n says.
inline std::vector<Record> batch(std::uint64_t n) {
  return std::vector<Record>(1 + n % 3, Record(LifeBegan{Incarnation{n}, Epoch{1}}));
}

/// What recover() gives must be whole batches 1, 2, ... in order, each once; the number of the last
/// one.
inline std::uint64_t last_batch(const std::vector<Record>& records) {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < records.size();) {
    ++n;
    for (std::uint64_t k = 0; k < 1 + n % 3; ++k, ++i) {
      REQUIRE(i < records.size());
      REQUIRE(std::get<LifeBegan>(records[i]).incarnation.value == n);
    }
  }
  return n;
}

}  // namespace starling
