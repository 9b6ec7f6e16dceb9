// SPDX-License-Identifier: Apache-2.0
#include "launch/view/view_page.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bus/wire/roles.h"
#include "launch/report/page.h"
#include "launch/view/floor_plan.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kWide = 1.7, kTall = 0.72;  // beside the panels of a screen; on a phone

double tenth(double x) { return std::round(10 * x) / 10; }
double milli(double s) { return std::round(1000 * s) / 1000; }

Json box_json(const PlanBox& b) { return {tenth(b.x), tenth(b.y), tenth(b.w), tenth(b.h)}; }

Json plan_json(const Topology& topology, double aspect) {
  const FloorPlan plan = floor_plan(topology, aspect);
  Json racks = Json::array(), servers = Json::array(), gpus = Json::array();
  for (std::size_t r = 0; r < plan.racks.size(); ++r) {
    Json rack = box_json(plan.rack_boxes[r]);
    rack.push_back(topology.subtrees()[plan.racks[r]].name);
    racks.push_back(rack);
  }
  for (const PlanBox& b : plan.servers) servers.push_back(box_json(b));
  for (const PlanBox& b : plan.gpus) {
    gpus.push_back(tenth(b.x));
    gpus.push_back(tenth(b.y));
  }
  return {{"w", tenth(plan.width)}, {"h", tenth(plan.height)}, {"gpu", FloorPlan::kGpuSide},
          {"racks", racks},         {"servers", servers},      {"gpus", gpus}};
}

std::size_t index_in(const std::vector<IndexRange>& ranges, std::uint32_t server) {
  std::size_t i = 0;
  while (i < ranges.size() && !ranges[i].contains(server)) ++i;
  return i;
}

Json servers_json(const Recording& all) {
  Json out = Json::array();
  for (std::uint32_t s = 0; s < all.topology.server_count(); ++s) {
    const Server& server = all.topology.servers()[s];
    const bool gpus = server.gpus.size() > 0;
    out.push_back({server.name, server.gpus.first, server.gpus.size(),
                   gpus ? all.topology.gpu_types()[server.gpu_type.value].name : "",
                   index_in(all.agents, s), index_in(all.executors, s),
                   all.topology.subtrees()[all.topology.rack_of(ServerId{s})].name});
  }
  return out;
}

Json jobs_json(const Recording& all) {
  Json out = Json::array();
  for (const Recording::Job& job : all.jobs)
    out.push_back({job.name, job.model, milli(job.submit_s), milli(job.end_s), name_of(job.state),
                   job.gpus, job.home, job.forwards, milli(job.alone_s)});
  return out;
}

Json shares_json(const Recording& all) {
  Json out = Json::array();
  for (const Recording::Share& share : all.shares)
    out.push_back({share.job, share.attempt, milli(share.from_s),
                   share.until_s < 0 ? -1 : milli(share.until_s), placement_text(share.gpus),
                   share.stopped ? 1 : 0});
  return out;
}

Json frames_json(const Recording& all) {
  Json list = Json::array();
  for (const Recording::Frames& f : all.frames)
    list.push_back({milli(f.at_s), f.from, f.to, kind_name(f.kind), f.count});
  return {{"each_s", all.frames_each_s}, {"list", list}};
}

/// As recordings have them: each line once.
Json whys_json(const Recording& all) {
  Json lines = Json::array(), list = Json::array();
  std::map<std::string, std::size_t> number;
  for (const Recording::Why& why : all.whys) {
    Json of = Json::array();
    for (const std::string& line : why.lines) {
      const auto [at, fresh] = number.emplace(line, lines.size());
      if (fresh) lines.push_back(line);
      of.push_back(at->second);
    }
    list.push_back({milli(why.at_s), why.job, of});
  }
  return {{"left_out", all.whys_left_out}, {"lines", lines}, {"list", list}};
}

/// The rack whose servers are plugged into a switch; none where it has servers of no rack, or of
/// several.
std::optional<std::uint32_t> rack_of_switch(const Topology& topology, std::uint32_t node) {
  std::optional<std::uint32_t> rack;
  for (const NetworkLink& link : topology.network_links()) {
    if (link.a != node && link.b != node) continue;
    const NetworkNode& other = topology.network_nodes()[link.a == node ? link.b : link.a];
    if (!other.is_server) continue;
    const std::uint32_t its = topology.rack_of(other.server);
    if (rack && *rack != its) return std::nullopt;
    rack = its;
  }
  return rack;
}

/// Links that were used, and of which rack's switch they are; then their loads.
Json links_json(const Recording& all) {
  const Topology& topology = all.topology;
  Json links = Json::array(), list = Json::array();
  std::map<std::uint32_t, std::size_t> number;
  std::map<std::uint32_t, std::optional<std::uint32_t>> racks;
  const auto rack = [&](std::uint32_t node) -> Json {
    const auto found = racks.try_emplace(node).first;
    if (!found->second) found->second = rack_of_switch(topology, node).value_or(~0U);
    return *found->second == ~0U ? Json() : Json(topology.subtrees()[*found->second].name);
  };
  for (const Recording::LinkLoad& load : all.loads) {
    const auto [at, fresh] = number.emplace(load.link, links.size());
    if (fresh) {
      const NetworkLink& link = topology.network_links()[load.link / 2];
      const std::uint32_t from = load.link % 2 == 0 ? link.a : link.b,
                          to = load.link % 2 == 0 ? link.b : link.a;
      links.push_back({topology.network_nodes()[from].name, topology.network_nodes()[to].name,
                       link.gbps, rack(from), rack(to)});
    }
    list.push_back({milli(load.at_s), at->second, load.percent});
  }
  return {{"links", links}, {"list", list}};
}

}  // namespace

std::string view_page(const Recording& all) {
  Json outages = Json::array(), sick = Json::array(), notes = Json::array();
  for (const Recording::Outage& o : all.outages)
    outages.push_back(
        {o.agent ? 1 : 0, o.number, milli(o.from_s), o.until_s < 0 ? -1 : milli(o.until_s)});
  for (const Recording::SickGpu& s : all.sick)
    sick.push_back({s.gpu.value, milli(s.from_s), s.until_s < 0 ? -1 : milli(s.until_s)});
  for (const Recording::Note& note : all.notes) notes.push_back({milli(note.at_s), note.what});
  const Json data{{"page", "view"},
                  {"policy", all.policy},
                  {"workload", all.workload},
                  {"seed", all.seed},
                  {"end_s", milli(all.end_s)},
                  {"cluster", all.topology.name()},
                  {"agents", all.agents.size()},
                  {"executors", all.executors.size()},
                  {"servers", servers_json(all)},
                  {"plans", {plan_json(all.topology, kWide), plan_json(all.topology, kTall)}},
                  {"jobs", jobs_json(all)},
                  {"shares", shares_json(all)},
                  {"outages", outages},
                  {"sick", sick},
                  {"notes", notes},
                  {"frames", frames_json(all)},
                  {"whys", whys_json(all)},
                  {"loads", links_json(all)}};
  return fill_page(kViewPage, data.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace starling
