// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/member_watch.h"

#include <chrono>
#include <utility>

#include "launch/client/flock_hosts.h"

namespace starling {

MemberWatch::MemberWatch(const Deployment& flock, const std::string& host) {
  if (flock.state.empty() || !flock.has_agent_on(host)) return;
  auto hosts = FlockHosts::open(flock);
  if (!hosts) {
    first_ = hosts.error();
    return;
  }
  const auto look = [this](FlockHosts& from) -> Status {
    auto read = from.read();
    if (!read) return read.error();
    const std::lock_guard lock(mutex_);
    members_ = std::move(read).value();
    return done();
  };
  first_ = look(hosts.value());
  thread_ = std::thread([this, look, from = std::move(hosts).value()]() mutable {
    for (int beat = 1; !over_; ++beat) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      if (beat % 10 == 0) (void)look(from);
    }
  });
}

MemberWatch::~MemberWatch() {
  over_ = true;
  if (thread_.joinable()) thread_.join();
}

FlockMembers MemberWatch::now() const {
  const std::lock_guard lock(mutex_);
  return members_;
}

bool belongs(const DeployedNode& node, const FlockMembers& members) {
  return node.role != Role::agent || members.is_host(AgentId{node.partition.value});
}

}  // namespace starling
