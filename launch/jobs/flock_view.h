// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "launch/client/session.h"
#include "topology/topology.h"

namespace starling {

/// A flock as one of its clients sees it.
struct FlockView {
  std::filesystem::path dir;
  Deployment deployment;
  Topology topology;
  std::unique_ptr<Session> session;  ///< none before connect()

  /// That of --flock or $STARLING_FLOCK.
  [[nodiscard]] static Result<std::unique_ptr<FlockView>> find(const std::string& flock_option);
  [[nodiscard]] Status connect();
  /// The agent that owns a server.
  [[nodiscard]] AgentId owner_of(ServerId server) const;
};

}  // namespace starling
