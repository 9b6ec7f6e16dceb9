// SPDX-License-Identifier: Apache-2.0
// The published week of the Philly trace through real agents, executors, codec and driver: the
// figures are those of a plain list scheduler, to the digits that are published.
#include <doctest/doctest.h>

#include "base/test_data.h"
#include "sim/published/papers.h"

using namespace starling;

TEST_CASE("one agent gives the published figures of the Philly week" *
          doctest::test_suite("published data")) {
  const auto file = test_data("conformance/philly_week.csv.gz");
  if (!file) return;
  const auto report =
      philly_week().run(file->parent_path().parent_path(), [](auto, auto, const auto&) {});
  REQUIRE_MESSAGE(report.ok(), report.error().message);
  CHECK(report.value().figures.size() == 24);
  for (const Figure& figure : report.value().figures) {
    CAPTURE(figure.name);
    CAPTURE(figure.ours);
    CHECK(holds(figure));
  }
}
