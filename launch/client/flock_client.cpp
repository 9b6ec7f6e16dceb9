// SPDX-License-Identifier: Apache-2.0
#include "launch/client/flock_client.h"

#include <utility>

#include "launch/client/fresh_ids.h"
#include "launch/client/session.h"
#include "topology/file/load.h"

namespace starling {

FlockClient::FlockClient(Deployment deployment, Topology topology)
    : deployment_(std::make_unique<Deployment>(std::move(deployment))),
      topology_(std::move(topology)) {}

FlockClient::~FlockClient() = default;

Result<std::unique_ptr<FlockClient>> FlockClient::open(const std::filesystem::path& dir) {
  auto deployment = read_deployment(dir);
  if (!deployment) return deployment.error();
  auto topology = load_topology((dir / deployment.value().topology).string());
  if (!topology) return Error{Errc::invalid, topology.error().message};
  return std::unique_ptr<FlockClient>(
      new FlockClient(std::move(deployment).value(), std::move(topology).value()));
}

Status FlockClient::connect() {
  if (session_ != nullptr) return done();
  auto opened = Session::open(*deployment_);
  if (!opened) return opened.error();
  session_ = std::move(opened).value();
  ids_ = std::make_unique<FreshIds>(*session_);
  return done();
}

Result<bool> FlockClient::reread() {
  auto now = read_deployment(deployment_->dir);
  if (!now) return now.error();
  if (now.value().generation == deployment_->generation) return false;
  auto topology = load_topology((deployment_->dir / now.value().topology).string());
  if (!topology) return Error{Errc::invalid, topology.error().message};
  topology_ = std::move(topology).value();
  *deployment_ = std::move(now).value();
  return true;
}

std::uint32_t FlockClient::agents() const { return deployment_->agents(); }

std::optional<ServerId> FlockClient::server_named(const std::string& text) const {
  for (std::uint32_t s = 0; s < topology_.server_count(); ++s) {
    if (topology_.server(ServerId{s}).name == text) return ServerId{s};
  }
  for (std::uint32_t s = 0; s < topology_.server_count(); ++s) {
    if (std::to_string(s) == text) return ServerId{s};
  }
  return std::nullopt;
}

std::optional<AgentId> FlockClient::agent_named(const std::string& text) const {
  for (const DeployedNode* node : deployment_->with_role(Role::agent)) {
    const AgentId agent{node->partition.value};
    if (text == node->name || text == std::to_string(agent.value)) return agent;
  }
  return std::nullopt;
}

AgentId FlockClient::owner_of(ServerId server) const {
  for (const DeployedNode* executor : deployment_->with_role(Role::executor)) {
    if (executor->servers.contains(server.value)) return AgentId{executor->partition.value};
  }
  return AgentId{0};
}

AgentId FlockClient::host_of(AgentId agent) const {
  return session_ == nullptr ? agent : session_->host_of(agent);
}

std::string FlockClient::user() const {
  return STARLING_CHECK(session_ != nullptr), session_->user();
}

}  // namespace starling
