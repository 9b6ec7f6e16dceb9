// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/look_at_hosts.h"

#include <chrono>
#include <string>

#include "launch/hosts/hosts_file.h"
#include "launch/hosts/preflight.h"
#include "launch/hosts/slurm.h"
#include "launch/processes/shell_word.h"
#include "launch/processes/supervisor.h"
#include "launch/remote/remote.h"
#include "topology/builder.h"

namespace starling {
namespace {

constexpr const char* kLook = " topology discover --machine";

/// Reads the program from its input.
std::string copied() {
  return std::string(
             "d=$(mktemp -d) && trap 'rm -rf \"$d\"' EXIT && cat >\"$d/starling\" && "
             "chmod 700 \"$d/starling\" && \"$d/starling\"") +
         kLook;
}

Result<MachineFound> look_at(const Remote& remote, const Host& host) {
  ProgramOptions options;
  options.timeout = std::chrono::seconds(120);
  if (host.program.empty()) options.input = own_program();
  const auto said =
      remote.ask(host, host.program.empty() ? copied() : shell_word(host.program) + kLook, options);
  if (!said) return said.error();
  auto machine = machine_from_json(said.value());
  if (!machine) return {Errc::io, host.name + ": " + machine.error().message};
  machine.value().name = host.name;
  return machine;
}

}  // namespace

Result<HostSet> hosts_to_look_at(const std::string& hosts) {
  if (hosts != "slurm") return load_host_list(hosts);
  return slurm_hosts(TopologyBuilder("none").build(), "discover");
}

Result<std::vector<MachineFound>> look_at_hosts(const HostSet& set) {
  const Remote remote(set.way);
  std::vector<MachineFound> machines(set.hosts.size());
  std::vector<std::string> wrong(set.hosts.size());
  for_each_at_once(set.hosts.size(), [&](std::size_t i) {
    auto machine = look_at(remote, set.hosts[i]);
    if (machine) {
      machines[i] = std::move(machine).value();
    } else {
      wrong[i] = machine.error().message;
    }
  });
  if (Status s = together(wrong); !s.ok()) return s.error();
  return machines;
}

}  // namespace starling
