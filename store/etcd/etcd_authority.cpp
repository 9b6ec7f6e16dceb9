// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_authority.h"

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/machine_clock.h"
#include "store/etcd/etcd_leases.h"
#include "store/etcd/lease_requests.h"

namespace starling {

using Kind = LeaseRequests::Request::Kind;

/// Makes the calls of EtcdLeases, in the order in which they were asked for.
struct EtcdAuthority::Worker {
  EtcdClient client;
  MachineClock clock;
  EtcdLeases leases;

  std::mutex mutex;  // over what follows
  std::condition_variable wake;
  LeaseRequests requests;

  std::thread thread;

  Worker(EtcdAddress flock, const EtcdAuthorityOptions& how)
      : client(flock, how.calls),
        leases(client, std::move(flock), how.ttl, how.holder.empty() ? new_holder() : how.holder,
               clock) {
    thread = std::thread([this] { run(); });
  }
  ~Worker() {
    {
      const std::lock_guard lock(mutex);
      requests.stop();
    }
    wake.notify_one();
    thread.join();
  }

  void ask(const LeaseRequests::Request& request) {
    {
      const std::lock_guard lock(mutex);
      if (!requests.add(request)) return;
    }
    wake.notify_one();
  }

  void run();
};

void EtcdAuthority::Worker::run() {
  for (;;) {
    std::optional<LeaseRequests::Request> request;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return requests.stopped() || !requests.empty(); });
      request = requests.next();
    }
    if (!request) return;
    request->make(leases);
  }
}

EtcdAuthority::EtcdAuthority(EtcdAddress flock, const EtcdAuthorityOptions& options)
    : worker_(std::make_unique<Worker>(std::move(flock), options)) {}
EtcdAuthority::~EtcdAuthority() = default;

void EtcdAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  worker_->ask({Kind::acquire, {partition, expect, me}});
}
void EtcdAuthority::renew(const Ownership& mine) { worker_->ask({Kind::renew, mine}); }
void EtcdAuthority::release(const Ownership& mine) { worker_->ask({Kind::release, mine}); }

Duration EtcdAuthority::holds_for(const Ownership& mine) { return worker_->leases.holds_for(mine); }

std::vector<EpochEvent> EtcdAuthority::poll() { return worker_->leases.poll(); }

std::string new_holder() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 4; ++i) {
    char part[9];
    std::snprintf(part, sizeof part, "%08x", device());
    text += part;
  }
  return text;
}

}  // namespace starling
