// SPDX-License-Identifier: Apache-2.0
#include "launch/runs/pack_output.h"

#include <bit>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "launch/system/amount.h"
#include "launch/system/text.h"
#include "workload/text/csv.h"

namespace starling {
namespace {

struct Figures {
  std::size_t placed = 0;
  std::size_t arrived = 0;
  double capacity_gpus = 0, arrived_gpus = 0, allocated_gpus = 0, fragmented_gpus = 0;

  [[nodiscard]] double unallocated_gpus() const { return capacity_gpus - allocated_gpus; }
  [[nodiscard]] double fragmented_share() const {
    return unallocated_gpus() > 0 ? fragmented_gpus / unallocated_gpus() : 0;
  }
};

Figures figures_of(const PackInput& input, const PackEvent& event) {
  Figures f;
  f.capacity_gpus = static_cast<double>(input.cluster.gpu_milli()) / kWholeGpu;
  f.arrived_gpus = static_cast<double>(event.arrived_gpu_milli) / kWholeGpu;
  f.allocated_gpus = static_cast<double>(event.allocated_gpu_milli) / kWholeGpu;
  f.fragmented_gpus = input.measure.gpus(event.fragments);
  return f;
}

Figures figures_of(const PackInput& input, const PackRun& run) {
  Figures f = figures_of(input, run.events.back());
  for (const PackEvent& event : run.events) {
    f.placed += event.what == PackEvent::What::placed ? 1 : 0;
    f.arrived += event.what == PackEvent::What::left ? 0 : 1;
  }
  return f;
}

double pods_per_s(const PackRun& run, std::size_t arrived) {
  return run.place_s > 0 ? static_cast<double>(arrived) / run.place_s : 0;
}

const char* name_of(PackEvent::What what) {
  constexpr const char* names[] = {"placed", "unscheduled", "left"};
  return names[static_cast<std::size_t>(what)];
}

void add_gpus(std::string& text, GpuSet gpus) {
  for (bool first = true; gpus != 0; gpus &= gpus - 1, first = false) {
    if (!first) text += '|';
    text += std::to_string(std::countr_zero(gpus));
  }
}

std::string one_place(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", x);
  return text;
}

}  // namespace

std::string pack_csv(const PackInput& input, std::span<const PackRun> runs) {
  std::string text =
      "policy,step,event,pod,node,gpus,arrived_gpu_milli,arrived_percent,allocated_gpu_milli,"
      "fragmented_gpu_milli,fragmented_percent,unscheduled\n";
  char numbers[160];
  for (const PackRun& run : runs) {
    text.reserve(text.size() + run.events.size() * 128);
    for (std::size_t i = 0; i < run.events.size(); ++i) {
      const PackEvent& e = run.events[i];
      text += run.policy + ',' + std::to_string(i + 1) + ',' + name_of(e.what) + ',' +
              csv_field(input.pods[e.pod].name) + ',';
      if (e.what != PackEvent::What::unscheduled) {
        text += csv_field(input.cluster.nodes[e.where.node].name) + ',';
        add_gpus(text, e.where.gpus);
      } else {
        text += ',';
      }
      const Figures f = figures_of(input, e);
      std::snprintf(numbers, sizeof numbers, ",%lld,%.3f,%lld,%.3f,%.3f,%u\n",
                    static_cast<long long>(e.arrived_gpu_milli),
                    100 * f.arrived_gpus / f.capacity_gpus,
                    static_cast<long long>(e.allocated_gpu_milli), f.fragmented_gpus * kWholeGpu,
                    100 * f.fragmented_share(), e.unscheduled);
      text += numbers;
    }
  }
  return text;
}

std::string pack_json(const PackInput& input, std::span<const PackRun> runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const PackRun& run : runs) {
    const Figures f = figures_of(input, run);
    list.push_back({{"policy", run.policy},
                    {"pods", f.arrived},
                    {"placed", f.placed},
                    {"unscheduled", run.events.back().unscheduled},
                    {"arrived_gpus", f.arrived_gpus},
                    {"allocated_gpus", f.allocated_gpus},
                    {"unallocated_gpus", f.unallocated_gpus()},
                    {"fragmented_gpus", f.fragmented_gpus},
                    {"fragmented_share", f.fragmented_share()},
                    {"place_s", run.place_s},
                    {"pods_per_s", pods_per_s(run, f.arrived)}});
  }
  const nlohmann::ordered_json out{
      {"schema", 1},
      {"nodes_file", input.nodes_name},
      {"pods_file", input.pods_name},
      {"nodes", input.cluster.nodes.size()},
      {"gpus", input.cluster.gpu_milli() / kWholeGpu},
      {"order", input.order},
      {"seed", input.seed},
      {"inflate", input.inflate > 0 ? nlohmann::ordered_json(input.inflate) : nullptr},
      {"read_s", input.read_s},
      {"runs", list}};
  return out.dump(1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string pack_table(const PackInput& input, std::span<const PackRun> runs) {
  std::vector<std::vector<std::string>> rows{{"policy", "placed", "unscheduled", "GPUs allocated",
                                              "unallocated", "fragmented", "of unallocated",
                                              "pods/s"}};
  Figures first = figures_of(input, runs.front());
  for (const PackRun& run : runs) {
    const Figures f = figures_of(input, run);
    rows.push_back({run.policy, with_commas(f.placed), with_commas(run.events.back().unscheduled),
                    one_place(f.allocated_gpus), one_place(f.unallocated_gpus()),
                    one_place(f.fragmented_gpus), percent(f.fragmented_share()),
                    with_commas(static_cast<std::uint64_t>(pods_per_s(run, f.arrived)))});
  }
  return with_commas(first.arrived) + " pods of " + input.pods_name + " (" + input.order +
         ") ask for " + one_place(first.arrived_gpus) + " of " +
         amount(static_cast<std::uint64_t>(first.capacity_gpus), "GPU") + " on " +
         amount(input.cluster.nodes.size(), "node") + "\n" + table_text(rows);
}

}  // namespace starling
