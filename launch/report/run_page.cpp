// SPDX-License-Identifier: Apache-2.0
#include "launch/report/run_page.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "launch/report/page.h"
#include "launch/report/run_curves.h"
#include "sim/summary.h"

namespace starling {

std::string run_page(std::span<const RunResult> runs, std::span<const std::string> labels,
                     const Topology& topology) {
  STARLING_CHECK(!runs.empty() && runs.size() == labels.size());
  const CurveLimits limits{
      .jct = 300, .timeline = 800, .bars = 4000, .heat_bins = 96, .heat_rows = 64};
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Json summary = Json::parse(summary_json(runs.subspan(i, 1))).at("runs").at(0);
    list.push_back({{"label", labels[i]},
                    {"summary", summary},
                    {"curves", Json::parse(curves_json(run_curves(runs[i], topology, limits)))}});
  }
  const Json data{{"page", "run"}, {"runs", list}};
  return fill_page(kRunPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace starling
