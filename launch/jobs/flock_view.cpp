// SPDX-License-Identifier: Apache-2.0
#include "launch/jobs/flock_view.h"

#include <utility>

#include "topology/file/load.h"

namespace starling {

Result<std::unique_ptr<FlockView>> FlockView::find(const std::string& flock_option) {
  auto dir = flock_dir(flock_option);
  if (!dir) return dir.error();
  auto deployment = read_deployment(dir.value());
  if (!deployment) return deployment.error();
  auto topology = load_topology((dir.value() / deployment.value().topology).string());
  if (!topology) return Error{Errc::invalid, topology.error().message};
  auto view = std::make_unique<FlockView>(FlockView{
      std::move(dir).value(), std::move(deployment).value(), std::move(topology).value(), nullptr});
  return view;
}

Status FlockView::connect() {
  auto opened = Session::open(deployment);
  if (!opened) return opened.error();
  session = std::move(opened).value();
  return done();
}

AgentId FlockView::owner_of(ServerId server) const {
  for (const DeployedNode* executor : deployment.with_role(Role::executor)) {
    if (executor->servers.contains(server.value)) return AgentId{executor->partition.value};
  }
  return AgentId{0};
}

}  // namespace starling
