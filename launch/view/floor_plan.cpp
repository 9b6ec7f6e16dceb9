// SPDX-License-Identifier: Apache-2.0
#include "launch/view/floor_plan.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace starling {
namespace {

constexpr double kPitch = FloorPlan::kGpuSide + 2;
constexpr double kEdge = 3, kStripe = 3, kBetween = 3, kName = 12, kRackEdge = 4, kAisle = 12;
constexpr std::uint32_t kLine = 8, kStack = 10;

struct Size {
  double w = 0, h = 0;
};

Size size_of(const Server& server) {
  const std::uint32_t gpus = server.gpus.size();
  if (gpus == 0) return {};
  const std::uint32_t line = std::min(gpus, kLine), lines = (gpus + kLine - 1) / kLine;
  return {2 * kEdge + kStripe + line * kPitch - 2, 2 * kEdge + lines * kPitch - 2};
}

struct Rack {
  std::uint32_t subtree = 0;
  std::vector<std::uint32_t> servers;  ///< with GPUs
  Size cell;                           ///< of its largest server
  std::uint32_t columns = 1;
  [[nodiscard]] Size size() const {
    const auto n = static_cast<std::uint32_t>(servers.size());
    const std::uint32_t rows = (n + columns - 1) / columns;
    return {2 * kRackEdge + columns * (cell.w + kBetween) - kBetween,
            kName + kRackEdge + rows * (cell.h + kBetween) - kBetween};
  }
};

std::vector<Rack> racks_of(const Topology& topology) {
  std::vector<Rack> racks;
  std::map<std::uint32_t, std::size_t> known;
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    const Size size = size_of(topology.servers()[s]);
    if (size.w == 0) continue;
    const std::uint32_t subtree = topology.rack_of(ServerId{s});
    const auto [at, fresh] = known.emplace(subtree, racks.size());
    if (fresh) racks.push_back({subtree, {}, {}, 1});
    Rack& rack = racks[at->second];
    rack.servers.push_back(s);
    rack.cell = {std::max(rack.cell.w, size.w), std::max(rack.cell.h, size.h)};
  }
  return racks;
}

/// The number of columns with which a lone rack is nearest to the wanted shape; others are as high
/// as kStack servers at most.
void choose_columns(std::vector<Rack>& racks, double aspect) {
  if (racks.size() > 1) {
    for (Rack& rack : racks)
      rack.columns = static_cast<std::uint32_t>((rack.servers.size() + kStack - 1) / kStack);
    return;
  }
  for (Rack& rack : racks) {
    double best = HUGE_VAL;
    std::uint32_t chosen = 1;
    for (rack.columns = 1; rack.columns <= rack.servers.size(); ++rack.columns) {
      const double off = std::abs(std::log(rack.size().w / rack.size().h / aspect));
      if (off < best) best = off, chosen = rack.columns;
    }
    rack.columns = chosen;
  }
}

/// Racks in rows of at most `width`.
std::vector<PlanBox> in_rows(const std::vector<Rack>& racks, double width, Size& all) {
  std::vector<PlanBox> boxes;
  double x = 0, y = 0, high = 0;
  all = {};
  for (const Rack& rack : racks) {
    const Size size = rack.size();
    if (x > 0 && x + size.w > width) {
      y += high + kAisle;
      x = high = 0;
    }
    boxes.push_back({x, y, size.w, size.h});
    all = {std::max(all.w, x + size.w), std::max(all.h, y + size.h)};
    high = std::max(high, size.h);
    x += size.w + kAisle;
  }
  return boxes;
}

}  // namespace

FloorPlan floor_plan(const Topology& topology, double aspect) {
  std::vector<Rack> racks = racks_of(topology);
  choose_columns(racks, aspect);
  double least = 0, most = 0;
  for (const Rack& rack : racks) {
    least = std::max(least, rack.size().w);
    most += rack.size().w + kAisle;
  }
  FloorPlan plan;
  plan.servers.resize(topology.server_count());
  plan.gpus.resize(topology.gpu_count());
  double best = 0;
  for (double width = least; width <= most * 1.05 && !racks.empty(); width *= 1.05) {
    Size all;
    std::vector<PlanBox> boxes = in_rows(racks, width, all);
    const double scale = std::min(aspect / all.w, 1 / all.h);
    if (scale <= best) continue;
    best = scale;
    plan.width = all.w;
    plan.height = all.h;
    plan.rack_boxes = std::move(boxes);
  }
  for (std::size_t r = 0; r < racks.size(); ++r) {
    const Rack& rack = racks[r];
    plan.racks.push_back(rack.subtree);
    const auto n = static_cast<std::uint32_t>(rack.servers.size());
    const std::uint32_t rows = (n + rack.columns - 1) / rack.columns;
    for (std::uint32_t i = 0; i < n; ++i) {
      const std::uint32_t s = rack.servers[i];
      const Server& server = topology.servers()[s];
      const Size size = size_of(server);
      const std::uint32_t column = i / rows, row = i % rows;
      const double x = plan.rack_boxes[r].x + kRackEdge + column * (rack.cell.w + kBetween);
      const double y = plan.rack_boxes[r].y + kName + row * (rack.cell.h + kBetween);
      plan.servers[s] = {x, y, size.w, size.h};
      for (std::uint32_t g = 0; g < server.gpus.size(); ++g) {
        const std::uint32_t line = g / kLine;
        plan.gpus[server.gpus.first + g] = {x + kEdge + kStripe + g % kLine * kPitch,
                                            y + kEdge + line * kPitch, FloorPlan::kGpuSide,
                                            FloorPlan::kGpuSide};
      }
    }
  }
  return plan;
}

}  // namespace starling
