// SPDX-License-Identifier: Apache-2.0
#include "launch/view/moment.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "topology/placement_text.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

bool within(double from_s, double until_s, double at_s) {
  return from_s <= at_s && (until_s < 0 || at_s < until_s);
}

Json row_of(const Recording& recording, std::uint32_t job) {
  const Recording::Job& j = recording.jobs[job];
  return {{"job", j.name}, {"gpus", j.gpus}, {"submit_s", j.submit_s}};
}

}  // namespace

Moment moment_of(const Recording& recording, double at_s) {
  Moment moment;
  moment.at_s = at_s;
  moment.on_gpu.resize(recording.topology.gpu_count());
  std::set<std::uint32_t> running;
  for (const Recording::Share& share : recording.shares) {
    if (!within(share.from_s, share.until_s, at_s)) continue;
    running.insert(share.job);
    for (const GpuId gpu : share.gpus) moment.on_gpu[gpu.value].push_back(share.job);
  }
  moment.running.assign(running.begin(), running.end());
  for (const auto& jobs : moment.on_gpu) moment.busy_gpus += jobs.empty() ? 0 : 1;
  for (std::uint32_t j = 0; j < recording.jobs.size(); ++j) {
    const Recording::Job& job = recording.jobs[j];
    if (within(job.submit_s, job.end_s, at_s) && !running.contains(j)) moment.waiting.push_back(j);
  }
  std::stable_sort(moment.waiting.begin(), moment.waiting.end(), [&](auto a, auto b) {
    return recording.jobs[a].submit_s < recording.jobs[b].submit_s;
  });
  for (const Recording::Outage& o : recording.outages) {
    if (within(o.from_s, o.until_s, at_s))
      (o.agent ? moment.agents_down : moment.executors_down).push_back(o.number);
  }
  for (const Recording::SickGpu& s : recording.sick)
    if (within(s.from_s, s.until_s, at_s)) moment.sick.push_back(s.gpu);
  return moment;
}

std::string moment_json(const Recording& recording, const Moment& moment) {
  std::vector<Placement> of(recording.jobs.size());
  for (std::uint32_t gpu = 0; gpu < moment.on_gpu.size(); ++gpu) {
    for (const std::uint32_t job : moment.on_gpu[gpu]) of[job].emplace_back(gpu);
  }
  Json running = Json::array(), waiting = Json::array(), sick = Json::array();
  for (const std::uint32_t job : moment.running) {
    Json row = row_of(recording, job);
    row["on"] = placement_text(of[job]);
    running.push_back(row);
  }
  for (const std::uint32_t job : moment.waiting) waiting.push_back(row_of(recording, job));
  for (const GpuId gpu : moment.sick) sick.push_back(gpu.value);
  return Json{{"schema", 1},
              {"at_s", moment.at_s},
              {"gpus", recording.topology.gpu_count()},
              {"busy_gpus", moment.busy_gpus},
              {"running", running},
              {"waiting", waiting},
              {"agents_down", moment.agents_down},
              {"executors_down", moment.executors_down},
              {"sick_gpus", sick}}
             .dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string colour_of_job(std::uint32_t job) {
  // Hues a golden angle apart, in three depths.
  const double hue = std::fmod(job * 137.508, 360), lightness = 0.5 + 0.07 * (job % 3);
  const double chroma = (1 - std::abs(2 * lightness - 1)) * 0.58;
  const auto channel = [&](double n) {
    const double k = std::fmod(n + hue / 30, 12);
    const double x = lightness - chroma / 2 * std::max(-1.0, std::min({k - 3, 9 - k, 1.0}));
    return static_cast<unsigned>(std::lround(255 * x));
  };
  char text[8];
  std::snprintf(text, sizeof text, "#%02x%02x%02x", channel(0), channel(8), channel(4));
  return text;
}

}  // namespace starling
