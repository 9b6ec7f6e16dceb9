// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace starling {

/// One machine of a flock, and how to get there.
struct Host {
  std::string name;
  std::string address;  ///< IPv4, where its daemons listen and the others reach them
  std::string ssh;      ///< what ssh connects to: a name, an address, an alias of ssh's
  std::string user;     ///< these four: empty or 0 leaves it to ssh's own configuration
  std::uint32_t port = 0;
  std::string identity;                 ///< file of the secret key
  std::string known_hosts;              ///< file of the hosts' keys
  std::string directory;                ///< there, of this flock; relative to the user's home, in
                                        ///< Slurm to the node's temporary folder
  std::string program;                  ///< starling there; empty: this program is copied to it
  std::optional<std::uint32_t> agents;  ///< how many; else its share of the rest
  friend bool operator==(const Host&, const Host&) = default;
};

/// How the commands of a flock get to its hosts.
enum class Way : std::uint8_t { ssh, slurm };

/// Machines, and which of them each server of the data centre is (part of).
struct HostSet {
  Way way = Way::ssh;
  std::vector<Host> hosts;
  std::vector<std::uint32_t> server_host;  ///< index into hosts, for each server
};

}  // namespace starling
