// SPDX-License-Identifier: Apache-2.0
#include "launch/report/training_page.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "launch/report/page.h"
#include "launch/report/test_browser.h"

using namespace starling;

namespace {

const std::string kLog =
    R"({"stage": 0, "decisions": 900, "loss": [1.2, 0.8], "best_taken": [0.4, 0.9], "seconds": 3}
{"stage": 0, "validation": "small </script> load 0.9", "log_jct": 0.01}
{"stage": 0, "name": "imitate", "validation": 0.01, "kept": true, "seconds": 4}
{"stage": 1, "iteration": 0, "log jct": 0.1, "agreement": 0.1, "entropy": 0.5, "critic error": 2, "explained": 0.1, "divergence": 0.01, "clipped": 0.02, "decisions": 70, "scenarios": 2, "seconds": 5}
{"stage": 1, "iteration": 1, "log jct": 0.2, "agreement": 0.1, "entropy": 0.4, "critic error": 1, "explained": 0.2, "divergence": 0.01, "clipped": 0.02, "decisions": 70, "scenarios": 2, "seconds": 6}
{"stage": 1, "iteration": 1, "log jct": -0.05, "agreement": 0.1, "entropy": 0.4, "critic error": 1, "explained": 0.2, "divergence": 0.01, "clipped": 0.02, "decisions": 70, "scenarios": 2, "seconds": 7}
{"stage": 2, "generation": 0, "log_jct": -0.1, "seconds": 9}
)";

}  // namespace

// Stage 1 is as an earlier version wrote it.
TEST_CASE("the log becomes stages; an iteration that was done twice counts once") {
  const auto json = training_json(kLog);
  REQUIRE(json.ok());
  const auto data = nlohmann::json::parse(json.value());
  REQUIRE(data["stages"].size() == 3);
  CHECK(data["stages"][0]["fits"][0]["loss"][1] == 0.8);
  CHECK(data["stages"][0]["kept"] == true);
  CHECK(data["stages"][1]["iterations"].size() == 2);
  CHECK(data["stages"][1]["iterations"][1]["log_jct"] == -0.05);
  CHECK(data["stages"][1]["kept"].is_null());
  CHECK(data["stages"][2]["name"] == "evolve, in progress");
  const std::string text = training_text(json.value());
  CHECK(text.find("imitate") != std::string::npos);
  CHECK(text.find("+1.0 %") != std::string::npos);
  CHECK(text.find("-4.9 %") != std::string::npos);
}

TEST_CASE("what is no log of training is refused with its line") {
  CHECK_FALSE(training_json("").ok());
  CHECK(training_json(kLog + "{\"stage\": 0, \"it").ok());  // still being written
  for (const char* bad :
       {"{}", "nonsense", R"({"stage": 0, "iteration": 1})", R"({"stage": 0, "name": "imitate"})",
        R"({"stage": -1, "iteration": "x", "log jct": 0})"}) {
    CAPTURE(bad);
    const auto json = training_json(kLog + bad + "\n");
    REQUIRE_FALSE(json.ok());
    CHECK(json.error().message.rfind("line 8", 0) == 0);
  }
}

TEST_CASE("the page of a training is whole, and no name can end its script") {
  const std::string page = training_page(training_json(kLog).value());
  CHECK(page.find("@@") == std::string::npos);
  CHECK(count_of(page, "</script>") == 2);
  CHECK(page_data(page).ok());
}

TEST_CASE("a browser shows the stages and draws" * needs_browser()) {
  const TestBrowser browser("training-page");
  const std::string dom = browser.dom(training_page(training_json(kLog).value()));
  CHECK(dom.find("−4.88 %") == std::string::npos);  // the mean of the last five, not the last
  CHECK(dom.find("imitate") != std::string::npos);
  CHECK(dom.find("+1.01 %") != std::string::npos);
  CHECK(count_of(dom, "class=\"tools\"") == 5);
}
