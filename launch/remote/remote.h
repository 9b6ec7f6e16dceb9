// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/processes/subprocess.h"
#include "launch/remote/host.h"

namespace starling {

/// Runs shell commands on hosts: by the OpenSSH client, which asks for nothing (BatchMode), or as
/// steps of a Slurm allocation. For several threads.
class Remote {
 public:
  explicit Remote(Way way);
  /// Ends the connections that share().
  ~Remote();
  Remote(const Remote&) = delete;
  Remote& operator=(const Remote&) = delete;

  /// From here on the commands for this host go over one connection, as long as that lives. `io`
  /// says why there is none. Slurm: nothing happens.
  [[nodiscard]] Status share(const Host& host);

  /// The program and its arguments that run `command` there. `shared`: over the shared connection.
  [[nodiscard]] std::vector<std::string> argv(const Host& host, const std::string& command,
                                              bool shared = true) const;
  /// Runs it to its end.
  [[nodiscard]] Finished run(const Host& host, const std::string& command,
                             const ProgramOptions& options = {}) const;
  /// The same as an answer: its output, or `io` with the host's name and what went wrong.
  [[nodiscard]] Result<std::string> ask(const Host& host, const std::string& command,
                                        const ProgramOptions& options = {}) const;

 private:
  [[nodiscard]] std::string socket_of(const Host& host) const;

  Way way_;
  std::filesystem::path sockets_;  ///< folder of the shared connections' sockets
  struct Masters;
  std::unique_ptr<Masters> masters_;
};

/// "h2: ssh to 10.0.0.2: Permission denied" or "h2: COMMAND: its last words".
[[nodiscard]] std::string complaint(const Host& host, Way way, const Finished& ran);

/// Calls `work` with 0 to count - 1, up to 16 at a time, each in a thread.
void for_each_at_once(std::size_t count, const std::function<void(std::size_t)>& work);

}  // namespace starling
