// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "launch/report/page.h"
#include "launch/report/test_browser.h"

using namespace starling;

TEST_CASE("a browser draws how a model of interference does" * needs_browser()) {
  const TestBrowser browser("interference-page");
  const std::string dom = browser.dom(fill_page(kInterferencePage, R"({
"page": "interference", "file": "pairs.csv", "note": "held out",
"all": {"rows": 3, "mae": 0.02, "rmse": 0.03, "coverage90": 0.9, "mean_mae": 0.1},
"groups": {"gpu": {"rows": 2, "mae": 0.02, "rmse": 0.03, "coverage90": 0.9, "mean_mae": null},
  "link": {"rows": 1, "mae": 0.02, "rmse": 0.03, "coverage90": 1, "mean_mae": 0.1}},
"worth": [{"gain": 0.1, "wrong": 1, "pairs": 3}], "auc": 0.97, "sets": ["gpu", "link"], "types": ["a </script>", "b"],
"rows": [[0, 0, 1, 0.9, 0.88, 0.05], [0, 1, 0, 0.5, 0.61, 0.1], [1, 1, 1, 1.0, 1.0, 0]], "notes": {"seed": "1"}})"));
  CHECK(count_of(dom, "class=\"tools\"") == 2);
  CHECK(count_of(dom, "<circle") >= 3);
}
