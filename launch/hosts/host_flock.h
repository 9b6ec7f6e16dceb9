// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "agents/message.h"
#include "base/result.h"
#include "launch/deployment/deployment.h"
#include "launch/remote/host.h"
#include "launch/remote/remote.h"

namespace starling {

/// A flock on several hosts, as `hosts.json` of the directory where it was made says. That
/// directory is the clients' (topology, flock.json, keys of the clients); each host has one of its
/// own with the keys of its own nodes alone.
struct HostFlock {
  std::filesystem::path dir;  ///< not stored
  std::string id;             ///< `flock-id` of every directory
  Way way = Way::ssh;
  std::vector<Host> hosts;                   ///< directories are absolute
  std::uint16_t protocol = kNewestProtocol;  ///< of daemons that are started; not stored

  [[nodiscard]] const Host* find(const std::string& name) const;
  /// The program on that host.
  [[nodiscard]] static std::string program(const Host& host);
  /// A shell command that runs it there, "PROGRAM node WORDS --dir DIR", if the directory is safe
  /// (safe_folder.h).
  [[nodiscard]] static std::string node_command(const Host& host, const std::string& words);
  /// The same for `words`, "start" or "run", which keep that host's daemons.
  [[nodiscard]] std::string keeper_command(const Host& host, const std::string& words) const;
};

/// True if `dir` has a flock on hosts.
[[nodiscard]] bool is_host_flock(const std::filesystem::path& dir);
[[nodiscard]] Result<HostFlock> read_host_flock(const std::filesystem::path& dir);
[[nodiscard]] Status write_host_flock(const HostFlock& flock);

/// Copies files of the flock's directory to the same places of the host's. `paths` are relative;
/// folders come with all that is in them.
[[nodiscard]] Status copy_files(const HostFlock& flock, const Remote& remote, const Host& host,
                                const std::vector<std::string>& paths);
/// What a host is given: the flock's description, and its own nodes' folders.
[[nodiscard]] std::vector<std::string> files_of(const Deployment& deployment, const Host& host);
/// Removes the secret keys of the nodes that live on hosts: they are there now, and nowhere else.
void forget_secrets(const Deployment& deployment);

/// Stops the daemons of all hosts. One line per host that could not be asked.
[[nodiscard]] std::vector<std::string> stop_hosts(const HostFlock& flock, const Remote& remote);
/// Removes the directories of all hosts, but for what is not Starling's: `left` has a line for each
/// host where something is. One line per host where it did not succeed.
[[nodiscard]] std::vector<std::string> remove_hosts(const HostFlock& flock, const Remote& remote,
                                                    std::vector<std::string>& left);

}  // namespace starling
