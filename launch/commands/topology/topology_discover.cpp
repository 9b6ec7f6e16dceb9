// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/command_line/topology_line.h"
#include "launch/commands/commands.h"
#include "launch/hardware/look.h"
#include "launch/hardware/topology_found.h"
#include "launch/hosts/look_at_hosts.h"
#include "launch/system/files.h"
#include "topology/file/load.h"

namespace starling {
namespace {

struct Options {
  std::string hosts, out, name = "found", lldp, ibnetdiscover, described;
  bool json = false, machine = false, force = false;
};

Result<std::vector<MachineFound>> machines_of(const Options& o) {
  if (o.hosts.empty()) {
    auto here = look_at_hardware();
    if (!here) return here.error();
    return std::vector<MachineFound>{std::move(here).value()};
  }
  const auto set = hosts_to_look_at(o.hosts);
  if (!set) return set.error();
  return look_at_hosts(set.value());
}

/// A file is what this machine hears, a folder has HOST.json of several.
Status add_lldp(const std::string& path, std::vector<MachineFound>& machines) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const bool folder = fs::is_directory(path, ignored);
  if (!folder && machines.size() > 1)
    return {Errc::invalid, "--lldp: '" + path +
                               "' is of one machine, and there are several; give a folder with "
                               "HOST.json of each"};
  for (MachineFound& machine : machines) {
    const fs::path file = folder ? fs::path(path) / (machine.name + ".json") : fs::path(path);
    if (folder && !fs::exists(file, ignored)) {
      machine.remarks.push_back(file.string() + " is missing: its switches are not known");
      continue;
    }
    const auto text = read_text(file);
    if (!text) return {Errc::invalid, "--lldp: " + text.error().message};
    auto heard = read_lldp(text.value());
    if (!heard) return {Errc::invalid, "--lldp: " + file.string() + ": " + heard.error().message};
    machine.neighbours = std::move(heard).value();
  }
  return done();
}

Result<FoundNetwork> network_for(const Options& o, const std::vector<MachineFound>& machines) {
  std::vector<std::string> names;
  for (const MachineFound& machine : machines) names.push_back(machine.name);
  if (!o.ibnetdiscover.empty()) {
    const auto text = read_text(o.ibnetdiscover);
    if (!text) return {Errc::invalid, "--ibnetdiscover: " + text.error().message};
    return read_ibnetdiscover(text.value(), o.ibnetdiscover, names);
  }
  if (!o.described.empty()) {
    const auto described = load_topology(o.described);
    if (!described) return {Errc::invalid, described.error().message};
    return network_of(described.value(), names);
  }
  return network_heard(machines);
}

void print_json(const std::vector<MachineFound>& machines, const FoundTopology& found) {
  nlohmann::json out{{"schema", 1}, {"remarks", found.remarks}};
  out["machines"] = nlohmann::json::array();
  for (const MachineFound& machine : machines)
    out["machines"].push_back(nlohmann::json::parse(to_json(machine)));
  out["topology"] = to_yaml(found.topology, found.remarks);
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
}

int discover(const Options& o) {
  if (o.machine) {
    const auto here = look_at_hardware();
    if (!here) return failed(here.error());
    std::printf("%s\n", to_json(here.value()).c_str());
    return kDone;
  }
  const int networks =
      (o.lldp.empty() ? 0 : 1) + (o.ibnetdiscover.empty() ? 0 : 1) + (o.described.empty() ? 0 : 1);
  if (networks > 1)
    return bad_input(
        "topology discover: --lldp, --ibnetdiscover and --topograph each say how all is wired; "
        "give one of them");
  auto looked = machines_of(o);
  if (!looked) return failed(looked.error());
  std::vector<MachineFound>& machines = looked.value();
  if (!o.lldp.empty()) {
    if (Status good = add_lldp(o.lldp, machines); !good.ok())
      return bad_input("topology discover: " + good.error().message);
  }
  const auto network = network_for(o, machines);
  if (!network) return failed(network.error());
  const auto found = topology_found(machines, network.value(), o.name);
  if (!found) return bad_input("topology discover: " + found.error().message);
  std::vector<std::string> remarks = found.value().remarks;
  for (const std::string& line : remarks) std::fprintf(stderr, "%s\n", line.c_str());
  if (!remarks.empty()) remarks.emplace_back("Edit what is not so.");
  const std::string text = to_yaml(found.value().topology, remarks);
  if (!o.out.empty()) {
    if (auto good = check_edited_file(o.out, text, o.force); !good.ok())
      return bad_input("topology discover: -o: " + good.error().message);
    if (auto written = write_text(o.out, text); !written.ok()) return failed(written.error());
    std::fprintf(stderr, "%s: %s\n", o.out.c_str(), topology_line(found.value().topology).c_str());
  }
  if (o.json) {
    print_json(machines, found.value());
  } else if (o.out.empty()) {
    std::fputs(text.c_str(), stdout);
  }
  return kDone;
}

}  // namespace

void add_topology_discover(const Command& topology) {
  const auto o = std::make_shared<Options>();
  const Command command = topology.sub(
      "discover", "writes the topology of the machines that there are: GPUs, sockets, network");
  command.option("--hosts", o->hosts, "FILE|slurm",
                 "the machines of a hosts file, or of this Slurm allocation (default: this one)");
  command.option("-o,--output", o->out, "FILE", "where to (default: stdout)");
  command.flag("--force", o->force, kForceHelp);
  command.option("--name", o->name, "NAME", "of the data centre (default found)");
  command.option("--lldp", o->lldp, "FILE",
                 "what 'lldpctl -f json' printed, or a folder with HOST.json of each host; "
                 "default: lldpctl is asked where it is there");
  command.option("--ibnetdiscover", o->ibnetdiscover, "FILE", "what ibnetdiscover printed");
  command.option("--topograph", o->described, "FILE",
                 "the network as topograph describes it: YAML, topology.conf or topology.yaml");
  command.flag("--json", o->json, "JSON on stdout: machines with serial numbers, and the topology");
  command.flag("--machine", o->machine, "only this machine, as JSON, and no topology");
  command.examples({"starling topology discover -o cluster.yaml",
                    "starling topology discover --hosts hosts.yaml --ibnetdiscover ib.txt -o "
                    "cluster.yaml"});
  command.action([o] { return discover(*o); });
}

}  // namespace starling
