// SPDX-License-Identifier: Apache-2.0
#include "topology/placement_text.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace starling {
namespace {

TEST_CASE("placements read as ranges") {
  const auto text = [](std::initializer_list<std::uint32_t> ids) {
    Placement p;
    for (const std::uint32_t i : ids) p.push_back(GpuId{i});
    return placement_text(p);
  };
  CHECK(text({}) == "");
  CHECK(text({3, 5, 6, 7, 8}) == "3,5-8");
  CHECK(text({0, 1}) == "0-1");
  CHECK(gpu_ranges("").empty());
  CHECK(gpu_ranges("3,5-8") == std::vector<IndexRange>{{3, 4}, {5, 9}});
}

}  // namespace
}  // namespace starling
