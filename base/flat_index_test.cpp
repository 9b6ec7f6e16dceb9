// SPDX-License-Identifier: Apache-2.0
#include "base/flat_index.h"

#include <doctest/doctest.h>

#include <unordered_map>

#include "base/ids.h"
#include "base/rng.h"

namespace starling {
namespace {

TEST_CASE("a flat index answers like a map") {
  FlatIndex<JobId> index;
  std::unordered_map<JobId, std::uint32_t> map;
  Rng rng(7);
  for (std::uint32_t n = 0; n < 5000; ++n) {
    // Few keys, so that many come again, and neighbours, so that places are shared.
    const JobId job{rng.below(3), rng.below(2000)};
    CHECK(index.emplace(job, n) == map.emplace(job, n).second);
    const JobId other{rng.below(3), rng.below(2000)};
    const auto at = map.find(other);
    CHECK(index.find(other) == (at == map.end() ? FlatIndex<JobId>::kNone : at->second));
  }
  CHECK(index.size() == map.size());
  for (const auto& [job, n] : map) CHECK(index.find(job) == n);
}

TEST_CASE("an empty flat index has nothing, before and after") {
  FlatIndex<NodeId> index;
  CHECK(index.find(NodeId{0}) == FlatIndex<NodeId>::kNone);
  CHECK(index.emplace(NodeId{0}, 3));
  CHECK_FALSE(index.emplace(NodeId{0}, 4));
  CHECK(index.find(NodeId{0}) == 3);
  index.clear();
  CHECK(index.size() == 0);
  CHECK(index.find(NodeId{0}) == FlatIndex<NodeId>::kNone);
  CHECK(index.emplace(NodeId{0}, 5));
}

}  // namespace
}  // namespace starling
