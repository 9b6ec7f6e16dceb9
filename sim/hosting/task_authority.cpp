#include "sim/hosting/task_authority.h"

#include <functional>
#include <utility>

namespace starling {
namespace {

constexpr std::chrono::seconds kLease{5};

}  // namespace

struct TaskAuthority::Worker {
  struct Request {
    bool renews = false, releases = false;
    Ownership what;
    std::function<void()> make;
  };
  HostMachine& host;
  HostClock clock;
  std::unique_ptr<EtcdCalls> etcd;
  EtcdLeases leases;
  std::deque<Request> requests;
  Tasks::Bell asked, ended;
  bool stop = false, over = false;

  Worker(HostMachine& machine, std::unique_ptr<EtcdCalls> calls, const EtcdAddress& flock,
         const std::string& holder)
      : host(machine),
        clock(machine),
        etcd(std::move(calls)),
        leases(*etcd, flock, kLease, holder, clock) {}

  void run() {
    for (;;) {
      if (stop) std::erase_if(requests, [](const Request& r) { return !r.releases; });
      if (requests.empty()) {
        if (stop) break;
        host.tasks.wait_for(asked);
        continue;
      }
      const Request request = std::move(requests.front());
      requests.pop_front();
      request.make();
    }
    over = true;
    ended.ring();
  }

  void ask(Request request) {
    requests.push_back(std::move(request));
    asked.ring();
  }
};

TaskAuthority::TaskAuthority(HostMachine& host, std::unique_ptr<EtcdCalls> etcd,
                             const EtcdAddress& flock, const std::string& holder)
    : worker_(std::make_shared<Worker>(host, std::move(etcd), flock, holder)) {
  host.tasks.start(host.group, [worker = worker_] { worker->run(); });
}

TaskAuthority::~TaskAuthority() {
  worker_->stop = true;
  worker_->asked.ring();
  try {
    if (!worker_->over && !worker_->host.tasks.ending())
      worker_->host.tasks.wait_for(worker_->ended);
  } catch (const Tasks::Ended&) {
  }
}

void TaskAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  worker_->ask({false, false, {}, [w = worker_.get(), partition, expect, me] {
                  w->leases.acquire(partition, expect, me);
                }});
}

void TaskAuthority::renew(const Ownership& mine) {
  const auto& requests = worker_->requests;
  if (!requests.empty() && requests.back().renews && requests.back().what == mine) return;
  worker_->ask({true, false, mine, [w = worker_.get(), mine] { w->leases.renew(mine); }});
}

void TaskAuthority::release(const Ownership& mine) {
  worker_->ask({false, true, mine, [w = worker_.get(), mine] { w->leases.release(mine); }});
}

Duration TaskAuthority::holds_for(const Ownership& mine) { return worker_->leases.holds_for(mine); }

std::vector<EpochEvent> TaskAuthority::poll() { return worker_->leases.poll(); }

}  // namespace starling
