// SPDX-License-Identifier: Apache-2.0
// A reader of the page has to see what was missed, by how much, and how to look again.
#include "launch/runs/reproduction_output.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "launch/report/page.h"
#include "launch/report/test_browser.h"

using namespace starling;

namespace {

struct Example {
  Reproduction what{"example", "an example", "somebody </script>", "no files", nullptr};
  ReproductionReport report{{{"mean JCT", "s", 100.25, 100.254, 0.0, 2},
                             {"makespan", "s", 200, 210, 0.02, 0},
                             {"left", "", 0, 1, std::nullopt, 0}},
                            {"one seed"}};
  std::vector<Reproduced> all{{what, report}};
};

}  // namespace

TEST_CASE("text, Markdown and JSON say which figure misses its bound") {
  const Example example;
  const std::string text = reproduction_text(example.all.front());
  CHECK(text.find("starling reproduce example --data DATA") != std::string::npos);
  CHECK(text.find("1 of 2 bounds missed") != std::string::npos);
  CHECK(text.find("note: one seed") != std::string::npos);

  const std::string page = reproduction_markdown(example.all);
  CHECK(page.starts_with("# Published figures, made again\n"));
  CHECK(page.find("| mean JCT | 100.25 s | 100.25 s | 0 | equal |  |\n") != std::string::npos);
  CHECK(page.find("| makespan | 200 s | 210 s | +5 % | 2 % | missed |\n") != std::string::npos);
  CHECK(page.find("| left | 0 | 1 | +inf % | none |  |\n") != std::string::npos);

  const auto json = nlohmann::json::parse(reproduction_json(example.all));
  CHECK(json["holds"] == false);
  const auto& figures = json["reproductions"][0]["figures"];
  CHECK(figures[0]["holds"] == true);
  CHECK(figures[1]["difference"] == doctest::Approx(0.05));
  CHECK(figures[1]["holds"] == false);
  CHECK(figures[2]["difference"].is_null());
  CHECK(figures[2]["bound"].is_null());
}

TEST_CASE("a browser shows every figure" * needs_browser()) {
  const Example example;
  const std::string page = reproduction_page(example.all);
  CHECK(page_data(page).ok());
  const TestBrowser browser("reproduction-page");
  const std::string dom = browser.dom(page);
  CHECK(dom.find("<tr class=\"missed\"><td>makespan</td>") != std::string::npos);
  CHECK(dom.find("1 of 2 bounds missed") != std::string::npos);
}
