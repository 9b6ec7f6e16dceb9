// SPDX-License-Identifier: Apache-2.0
// What a reproduction says of itself has to be true where it is only just so.
#include "sim/published/reproduction.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "base/test_folder.h"

using namespace starling;

namespace {

Figure figure(double published, double ours, std::optional<double> bound, int digits = 0) {
  return {"x", "s", published, ours, bound, digits};
}

}  // namespace

TEST_CASE("a figure holds within its bound, and not beside it") {
  CHECK(holds(figure(100, 102, 0.02)));
  CHECK(holds(figure(-100, -98, 0.02)));
  CHECK_FALSE(holds(figure(100, 102.1, 0.02)));
  CHECK_FALSE(holds(figure(100, 97.9, 0.02)));
  CHECK(holds(figure(100, 1e9, std::nullopt)));
  CHECK_FALSE(holds(figure(100, std::nan(""), 0.5)));
  CHECK_FALSE(holds(figure(100, std::nan(""), 0.0)));
  CHECK(holds(figure(0, 0, 0.02)));
  CHECK_FALSE(holds(figure(0, 1e-9, 0.02)));
}

TEST_CASE("a bound of 0 is equality in the digits published") {
  CHECK(holds(figure(25137.60127, 25137.601274, 0.0, 5)));
  CHECK_FALSE(holds(figure(25137.60127, 25137.601276, 0.0, 5)));
  CHECK(holds(figure(131, 131, 0.0)));
  CHECK_FALSE(holds(figure(131, 130, 0.0)));
}

TEST_CASE("a report holds if all of its figures do") {
  ReproductionReport report;
  CHECK(report.holds());
  report.figures = {figure(1, 1, 0.0), figure(1, 2, std::nullopt)};
  CHECK(report.holds());
  report.figures.push_back(figure(1, 2, 0.5));
  CHECK_FALSE(report.holds());
}

TEST_CASE("each reproduction says what it is, and which file it misses") {
  const TestFolder folder("reproductions");
  std::set<std::string_view> names;
  for (const Reproduction& r : reproductions()) {
    CAPTURE(r.name);
    CHECK(names.insert(r.name).second);
    CHECK_FALSE(r.title.empty());
    CHECK_FALSE(r.source.empty());
    CHECK_FALSE(r.inputs.empty());
    const auto report = r.run(folder.path, [](auto, auto, const auto&) {});
    REQUIRE_FALSE(report.ok());
    CHECK(report.error().code == Errc::not_found);
    CHECK(report.error().message.find(folder.path.string()) == 0);
  }
}
