#include "launch/report.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "sim/summary.h"

namespace starling {
namespace {

constexpr std::size_t kCurvePoints = 300;
constexpr std::size_t kTimelinePoints = 800;
constexpr std::uint32_t kHeatBins = 96;
constexpr std::uint32_t kHeatRows = 64;

using nlohmann::json;

json rounded(double x) { return std::round(x * 1000) / 1000; }

json timeline(const RunResult& run) {
  json points = json::array();
  const std::size_t step = run.timeline.size() / kTimelinePoints + 1;
  const auto add = [&](const TimePoint& p) {
    points.push_back({rounded(p.at_s), p.busy_gpus, p.waiting});
  };
  for (std::size_t i = 0; i < run.timeline.size(); i += step) add(run.timeline[i]);
  // However thinned, the curves end where the run does.
  if (!run.timeline.empty() && (run.timeline.size() - 1) % step != 0) add(run.timeline.back());
  return points;
}

json one_run(const RunResult& run, const std::string& label, const Topology& topology) {
  json curve = json::array();
  for (const auto& [jct, share] : jct_distribution(run, kCurvePoints))
    curve.push_back({rounded(jct), share});
  const HeatMap map = heat_map(run, topology, kHeatBins, kHeatRows);
  const json summary = json::parse(summary_json(std::span(&run, 1))).at("runs").at(0);
  return {{"label", label},
          {"summary", summary},
          {"cdf", curve},
          {"timeline", timeline(run)},
          {"heat", {{"bin_s", map.bin_s}, {"rows", map.rows}, {"cells", map.cells}}}};
}

}  // namespace

std::string report_html(std::span<const RunResult> runs, std::span<const std::string> labels,
                        const Topology& topology) {
  STARLING_CHECK(!runs.empty() && runs.size() == labels.size());
  json data{{"runs", json::array()}};
  for (std::size_t i = 0; i < runs.size(); ++i)
    data["runs"].push_back(one_run(runs[i], labels[i], topology));
  std::string text = data.dump(-1, ' ', true, json::error_handler_t::replace);
  // Inside a script element "</" would end it early.
  for (std::size_t at = 0; (at = text.find("</", at)) != std::string::npos; at += 3)
    text.insert(at + 1, "\\");
  std::string page = kReportTemplate;
  const std::string mark = "@@DATA@@";
  const auto at = page.find(mark);
  STARLING_CHECK(at != std::string::npos);
  return page.replace(at, mark.size(), text);
}

}  // namespace starling
