// SPDX-License-Identifier: Apache-2.0
#include "launch/report/workload_page.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "launch/report/page.h"
#include "workload/stats.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

double rounded(double x) { return std::round(x * 1000) / 1000; }

Json to_json(const std::vector<TraceCurves::Share>& shares) {
  Json out = Json::array();
  for (const TraceCurves::Share& share : shares)
    out.push_back({share.name, share.jobs, rounded(share.gpu_hours)});
  return out;
}

Json to_json(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) out.push_back(rounded(value));
  return out;
}

Json to_json(const Quantiles& q) {
  return {{"p50", q.p50}, {"p90", q.p90}, {"p99", q.p99}, {"max", q.max}, {"mean", q.mean}};
}

}  // namespace

std::string workload_page(const Trace& trace, std::uint32_t gpus) {
  const TraceSummary summary = summarize(trace);
  const TraceCurves curves = trace_curves(trace);
  Json durations = Json::array();
  for (const TraceCurves::Class& entry : curves.durations) {
    Json points = Json::array();
    for (const auto& [s, share] : entry.duration) points.push_back({rounded(s), rounded(share)});
    durations.push_back({{"name", entry.name}, {"jobs", entry.jobs}, {"points", points}});
  }
  const Json data{{"page", "workload"},
                  {"name", trace.name},
                  {"jobs", summary.jobs},
                  {"dropped", summary.dropped},
                  {"span_s", summary.span_s},
                  {"gpu_hours", summary.gpu_hours},
                  {"interarrival_cv", summary.interarrival_cv},
                  {"duration_s", to_json(summary.duration_s)},
                  {"gpus_per_job", to_json(summary.gpus)},
                  {"cluster_gpus", gpus > 0 ? Json(gpus) : Json()},
                  {"load", gpus > 0 ? Json(offered_load(summary, gpus)) : Json()},
                  {"durations", durations},
                  {"gangs", to_json(curves.gangs)},
                  {"users", to_json(curves.users)},
                  {"queues", to_json(curves.queues)},
                  {"models", to_json(curves.models)},
                  {"bin_s", curves.bin_s},
                  {"jobs_per_hour", to_json(curves.jobs_per_hour)},
                  {"demand_gpus", to_json(curves.demand_gpus)}};
  return fill_page(kWorkloadPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace starling
