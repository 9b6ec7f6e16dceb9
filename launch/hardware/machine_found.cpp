// SPDX-License-Identifier: Apache-2.0
#include "launch/hardware/machine_found.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/system/json_fields.h"

namespace starling {
namespace {

using nlohmann::json;

json json_of(const GpuFound& gpu) {
  json out{{"index", gpu.index},
           {"uuid", gpu.uuid},
           {"serial", gpu.serial},
           {"model", gpu.model},
           {"memory_gib", gpu.memory_gib},
           {"pci", gpu.pci},
           {"socket", gpu.socket},
           {"pcie_switch", gpu.pcie_switch},
           {"pcie_gbps", gpu.pcie_gbps},
           {"mig_on", gpu.mig_on},
           {"mig", gpu.mig},
           {"nvlinks", gpu.links},
           {"nvlink_gbps", gpu.nvlink_gbps},
           {"nvlink_peers", gpu.peers},
           {"nvswitch", gpu.switched}};
  if (!gpu.cluster.empty()) out["cluster"] = gpu.cluster, out["clique"] = gpu.clique;
  return out;
}

GpuFound gpu_from(const json& in) {
  GpuFound gpu;
  in.at("index").get_to(gpu.index);
  gpu.uuid = in.value("uuid", "");
  gpu.serial = in.value("serial", "");
  gpu.model = in.value("model", "");
  gpu.memory_gib = in.value("memory_gib", 0.0);
  gpu.pci = in.value("pci", "");
  gpu.socket = in.value("socket", -1);
  gpu.pcie_switch = in.value("pcie_switch", "");
  gpu.pcie_gbps = in.value("pcie_gbps", 0.0);
  gpu.mig_on = in.value("mig_on", false);
  gpu.mig = in.value("mig", std::vector<std::string>());
  gpu.links = in.value("nvlinks", 0U);
  gpu.nvlink_gbps = in.value("nvlink_gbps", 0.0);
  gpu.peers = in.value("nvlink_peers", std::vector<std::string>());
  gpu.switched = in.value("nvswitch", false);
  gpu.cluster = in.value("cluster", "");
  gpu.clique = in.value("clique", 0U);
  return gpu;
}

bool is_amount(double x) { return x >= 0 && x < 1e9; }

bool is_possible(const MachineFound& machine) {
  return is_amount(machine.cpus) && is_amount(machine.memory_gib) &&
         std::all_of(machine.nics.begin(), machine.nics.end(),
                     [](const NicFound& nic) { return is_amount(nic.gbps); }) &&
         std::all_of(machine.gpus.begin(), machine.gpus.end(), [](const GpuFound& gpu) {
           return is_amount(gpu.memory_gib) && is_amount(gpu.pcie_gbps) &&
                  is_amount(gpu.nvlink_gbps);
         });
}

}  // namespace

std::string to_json(const MachineFound& machine) {
  json out{{"schema", 1},
           {"name", machine.name},
           {"cpus", machine.cpus},
           {"memory_gib", machine.memory_gib},
           {"sockets", machine.sockets},
           {"remarks", machine.remarks}};
  out["gpus"] = json::array();
  for (const GpuFound& gpu : machine.gpus) out["gpus"].push_back(json_of(gpu));
  out["nics"] = json::array();
  for (const NicFound& nic : machine.nics)
    out["nics"].push_back({{"name", nic.name}, {"gbps", nic.gbps}});
  out["neighbours"] = json::array();
  for (const NeighbourFound& each : machine.neighbours)
    out["neighbours"].push_back({{"port", each.port}, {"switch", each.switch_name}});
  return out.dump(1, ' ', false, json::error_handler_t::replace);
}

Result<MachineFound> machine_from_json(const std::string& text) {
  try {
    const json in = json::parse(text);
    MachineFound machine;
    in.at("name").get_to(machine.name);
    in.at("cpus").get_to(machine.cpus);
    in.at("memory_gib").get_to(machine.memory_gib);
    machine.sockets = in.value("sockets", 0U);
    machine.remarks = in.value("remarks", std::vector<std::string>());
    for (const json& gpu : in.at("gpus")) machine.gpus.push_back(gpu_from(gpu));
    for (const json& nic : in.at("nics"))
      machine.nics.push_back({nic.at("name").get<std::string>(), nic.at("gbps").get<double>()});
    for (const json& each : in.at("neighbours"))
      machine.neighbours.push_back(
          {each.at("port").get<std::string>(), each.at("switch").get<std::string>()});
    if (!is_possible(machine))
      return {Errc::invalid, "not a machine: an amount of it is below zero, or larger than any"};
    return machine;
  } catch (const json::exception& wrong) {
    return {Errc::invalid, std::string("not a machine as 'starling topology discover --json' "
                                       "writes it: ") +
                               wrong.what()};
  }
}

}  // namespace starling
