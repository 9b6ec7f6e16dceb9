#include "store/etcd_authority.h"

#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include "base/machine_clock.h"
#include "store/etcd_leases.h"

namespace starling {
namespace {

struct Request {
  enum class Kind : std::uint8_t { acquire, renew, release };
  Kind kind = Kind::renew;
  Ownership what;  ///< acquire: with the expected epoch
};

}  // namespace

/// Makes the calls of EtcdLeases, in the order in which they were asked for.
struct EtcdAuthority::Worker {
  EtcdClient client;
  MachineClock clock;
  EtcdLeases leases;

  std::mutex mutex;  // over what follows
  std::condition_variable wake;
  std::deque<Request> requests;
  bool stop = false;

  std::thread thread;

  Worker(EtcdAddress flock, EtcdAuthorityOptions how)
      : client(flock, how.calls),
        leases(client, std::move(flock), how.ttl, how.holder.empty() ? new_holder() : how.holder,
               clock) {
    thread = std::thread([this] { run(); });
  }
  ~Worker() {
    {
      const std::lock_guard lock(mutex);
      stop = true;
    }
    wake.notify_one();
    thread.join();
  }

  void ask(Request request) {
    {
      const std::lock_guard lock(mutex);
      const bool repeated = request.kind == Request::Kind::renew && !requests.empty() &&
                            requests.back().kind == Request::Kind::renew &&
                            requests.back().what == request.what;
      if (repeated) return;
      requests.push_back(std::move(request));
    }
    wake.notify_one();
  }

  void run();
};

void EtcdAuthority::Worker::run() {
  for (;;) {
    Request request;
    {
      std::unique_lock lock(mutex);
      wake.wait(lock, [&] { return stop || !requests.empty(); });
      if (stop) {
        std::erase_if(requests, [](const Request& r) { return r.kind != Request::Kind::release; });
      }
      if (requests.empty()) return;
      request = std::move(requests.front());
      requests.pop_front();
    }
    switch (request.kind) {
      case Request::Kind::acquire:
        leases.acquire(request.what.partition, request.what.epoch, request.what.owner);
        break;
      case Request::Kind::renew:
        leases.renew(request.what);
        break;
      case Request::Kind::release:
        leases.release(request.what);
        break;
    }
  }
}

EtcdAuthority::EtcdAuthority(EtcdAddress flock, EtcdAuthorityOptions options)
    : worker_(std::make_unique<Worker>(std::move(flock), std::move(options))) {}
EtcdAuthority::~EtcdAuthority() = default;

void EtcdAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  worker_->ask({Request::Kind::acquire, {partition, expect, me}});
}
void EtcdAuthority::renew(const Ownership& mine) { worker_->ask({Request::Kind::renew, mine}); }
void EtcdAuthority::release(const Ownership& mine) { worker_->ask({Request::Kind::release, mine}); }

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
