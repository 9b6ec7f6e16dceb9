// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/hardware/machine_found.h"
#include "topology/topology.h"

namespace starling {

/// Cables between servers and switches, as something that looks at networks says.
struct FoundNetwork {
  struct Link {
    std::string a, b;
    double gbps = 0;  ///< 0: not said
  };
  std::vector<Link> links;                     ///< several between the same two are several
  std::map<std::string, std::string> domains;  ///< by server: the scale-up domain that it is in
  std::vector<std::string> remarks;
};

/// What `ibnetdiscover` prints. Ends of cables are the servers of `names` (by the first word of an
/// adapter's description, with or without its domain) and switches (by what their descriptions call
/// them, else by GUID); other hosts are left out, with a remark. `invalid` with file:line.
[[nodiscard]] Result<FoundNetwork> read_ibnetdiscover(const std::string& text,
                                                      const std::string& file,
                                                      const std::vector<std::string>& names);

/// The switches over the servers in a file that describes a whole network without its hardware:
/// topograph's YAML, and the topology.conf or topology.yaml that topograph writes for Slurm.
/// Servers that are none of `names` are left out, with a remark; speeds are not said.
[[nodiscard]] FoundNetwork network_of(const Topology& described,
                                      const std::vector<std::string>& names);

/// What the machines' own ports hear by LLDP. Ports that are slower than a machine's fastest are
/// for its management, and left out.
[[nodiscard]] FoundNetwork network_heard(const std::vector<MachineFound>& machines);

}  // namespace starling
