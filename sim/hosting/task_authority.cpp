// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/task_authority.h"

#include <utility>

#include "store/etcd/etcd_authority.h"
#include "store/etcd/lease_requests.h"

namespace starling {

using Kind = LeaseRequests::Request::Kind;

struct TaskAuthority::Worker {
  HostMachine& host;
  HostClock clock;
  std::unique_ptr<EtcdCalls> etcd;
  EtcdLeases leases;
  LeaseRequests requests;
  Tasks::Bell asked, ended;
  bool over = false;

  Worker(HostMachine& machine, std::unique_ptr<EtcdCalls> calls, const EtcdAddress& flock,
         const std::string& holder)
      : host(machine),
        clock(machine),
        etcd(std::move(calls)),
        leases(*etcd, flock, EtcdAuthorityOptions{}.ttl, holder, clock) {}

  void run() {
    for (;;) {
      if (const auto request = requests.next()) {
        request->make(leases);
      } else if (requests.stopped()) {
        break;
      } else {
        host.tasks.wait_for(asked);
      }
    }
    over = true;
    ended.ring();
  }

  void ask(const LeaseRequests::Request& request) {
    if (requests.add(request)) asked.ring();
  }
};

TaskAuthority::TaskAuthority(HostMachine& host, std::unique_ptr<EtcdCalls> etcd,
                             const EtcdAddress& flock, const std::string& holder)
    : worker_(std::make_shared<Worker>(host, std::move(etcd), flock, holder)) {
  host.tasks.start(host.group, [worker = worker_] { worker->run(); });
}

TaskAuthority::~TaskAuthority() {
  worker_->requests.stop();
  worker_->asked.ring();
  try {
    if (!worker_->over && !worker_->host.tasks.ending())
      worker_->host.tasks.wait_for(worker_->ended);
  } catch (const Tasks::Ended&) {
  }
}

void TaskAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  worker_->ask({Kind::acquire, {partition, expect, me}});
}
void TaskAuthority::renew(const Ownership& mine) { worker_->ask({Kind::renew, mine}); }
void TaskAuthority::release(const Ownership& mine) { worker_->ask({Kind::release, mine}); }

Duration TaskAuthority::holds_for(const Ownership& mine) { return worker_->leases.holds_for(mine); }

std::vector<EpochEvent> TaskAuthority::poll() { return worker_->leases.poll(); }

}  // namespace starling
