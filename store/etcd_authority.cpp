#include "store/etcd_authority.h"

#include <charconv>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "base/machine_clock.h"

namespace starling {
namespace {

struct Request {
  enum class Kind : std::uint8_t { acquire, renew, release };
  Kind kind = Kind::renew;
  Ownership what;  ///< acquire: with the expected epoch
};

/// What the two keys of a partition say.
struct Standing {
  Ownership current;
  std::int64_t alive_revision = 0;  ///< 0: nobody's lease runs
  std::int64_t alive_lease = 0;
  std::string holder;
};

Standing standing(PartitionId partition, const EtcdAnswer& answer) {
  Standing s;
  s.current.partition = partition;
  if (answer.found.size() == 2 && !answer.found[0].empty()) {
    const EtcdEntry& owner = answer.found[0].front();
    s.current.epoch = Epoch{static_cast<std::uint64_t>(owner.revision)};
    std::from_chars(owner.value.data(), owner.value.data() + owner.value.size(),
                    s.current.owner.value);
  }
  if (answer.found.size() == 2 && !answer.found[1].empty()) {
    const EtcdEntry& alive = answer.found[1].front();
    s.alive_revision = alive.revision;
    s.alive_lease = alive.lease;
    s.holder = alive.value;
  }
  return s;
}

}  // namespace

struct EtcdAuthority::Worker {
  /// A partition that was granted here.
  struct Grip {
    Ownership mine;
    EtcdLease lease;
    Instant valid_until;  // by boot_time()
    bool lapsed = false;  // and told
  };

  EtcdAddress flock;
  EtcdAuthorityOptions options;
  EtcdClient client;  // of the thread alone

  std::mutex mutex;  // over all that follows
  std::condition_variable wake;
  std::deque<Request> requests;
  std::vector<EpochEvent> events;
  std::map<PartitionId, Grip> grips;  // changed by the thread alone, but for `lapsed`
  bool stop = false;

  std::thread thread;

  Worker(EtcdAddress where, EtcdAuthorityOptions how)
      : flock(std::move(where)), options(std::move(how)), client(flock, options.calls) {
    if (options.holder.empty()) options.holder = new_holder();
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
  void acquire(const Request& request);
  void renew(const Ownership& held);
  void release(const Ownership& held);
  [[nodiscard]] Result<Standing> look(PartitionId partition);
  [[nodiscard]] std::optional<EtcdLease> restore_lease(const Ownership& held);

  void tell(EpochEvent event) {
    const std::lock_guard lock(mutex);
    events.push_back(std::move(event));
  }
  static Instant end_of(const EtcdLease& lease, Instant sent) {
    return sent + std::chrono::nanoseconds(lease.ttl) / 10 * 9;
  }
  void granted(const Ownership& mine, const EtcdLease& lease, Instant sent) {
    const std::lock_guard lock(mutex);
    grips[mine.partition] = {mine, lease, end_of(lease, sent), false};
    events.push_back(EpochGranted{mine});
  }
  /// With the mutex held.
  void watch_leases() {
    const auto now = boot_time();
    for (auto& [partition, grip] : grips) {
      if (grip.lapsed || now < grip.valid_until) continue;
      grip.lapsed = true;
      events.push_back(EpochLost{grip.mine, grip.mine});
    }
  }
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
        acquire(request);
        break;
      case Request::Kind::renew:
        renew(request.what);
        break;
      case Request::Kind::release:
        release(request.what);
        break;
    }
  }
}

Result<Standing> EtcdAuthority::Worker::look(PartitionId partition) {
  const EtcdKeys keys(flock, partition);
  const auto answer = client.txn({{}, {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}, {}});
  if (!answer) return answer.error();
  return standing(partition, answer.value());
}

void EtcdAuthority::Worker::acquire(const Request& request) {
  const PartitionId partition = request.what.partition;
  const Epoch expect = request.what.epoch;
  const AgentId me = request.what.owner;
  const auto refused = [&](const Ownership& current, Error why) {
    tell(EpochRefused{current, std::move(why)});
  };
  const auto unanswered = [&](Error why) {
    refused({partition, Epoch{}, AgentId{}}, {Errc::io, std::move(why.message)});
  };
  const auto seen = look(partition);
  if (!seen) return unanswered(seen.error());
  const Standing& before = seen.value();
  const std::string name = "partition " + std::to_string(partition.value);
  if (before.current.epoch != expect) {
    return refused(before.current, {Errc::expired, name + " is at epoch " +
                                                       std::to_string(before.current.epoch.value)});
  }
  const auto held = [&](const Ownership& by) {
    return Error{Errc::conflict, name + " belongs to agent " + std::to_string(by.owner.value) +
                                     " at epoch " + std::to_string(by.epoch.value) +
                                     ", whose lease runs"};
  };
  if (before.alive_revision != 0 && before.holder != options.holder)
    return refused(before.current, held(before.current));

  const auto sent = boot_time();
  const auto fresh = client.grant(options.ttl);
  if (!fresh) return unanswered(fresh.error());
  const EtcdLease& lease = fresh.value();
  const EtcdKeys keys(flock, partition);
  const auto taken =
      client.txn({{EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(expect.value)),
                   EtcdCompare::revision_is(keys.alive, before.alive_revision)},
                  {EtcdOp::put(keys.epoch, std::to_string(me.value)),
                   EtcdOp::put(keys.alive, options.holder, lease.id)},
                  {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}});
  if (!taken) return unanswered(taken.error());
  if (taken.value().held) {
    const Epoch epoch{static_cast<std::uint64_t>(taken.value().revision)};
    return granted({partition, epoch, me}, lease, sent);
  }
  const Standing after = standing(partition, taken.value());
  // A first try of this very call, whose answer was lost, may have done it.
  if (after.alive_lease == lease.id) return granted(after.current, lease, sent);
  refused(after.current, held(after.current));
}

/// A lease that lapsed before anybody took over can be had again at the same epoch.
std::optional<EtcdLease> EtcdAuthority::Worker::restore_lease(const Ownership& held) {
  const auto fresh = client.grant(options.ttl);
  if (!fresh) return std::nullopt;
  const EtcdKeys keys(flock, held.partition);
  const auto put = client.txn(
      {{EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(held.epoch.value)),
        EtcdCompare::revision_is(keys.alive, 0)},
       {EtcdOp::put(keys.alive, options.holder, fresh.value().id)},
       {EtcdOp::get(keys.epoch), EtcdOp::get(keys.alive)}});
  if (!put) return std::nullopt;
  const bool done_before = standing(held.partition, put.value()).alive_lease == fresh.value().id;
  return put.value().held || done_before ? std::optional(fresh.value()) : std::nullopt;
}

/// Where etcd does not answer there is nothing to say: the lease lapses, which poll() tells.
void EtcdAuthority::Worker::renew(const Ownership& held) {
  std::optional<EtcdLease> lease;
  {
    const std::lock_guard lock(mutex);
    const auto grip = grips.find(held.partition);
    if (grip != grips.end() && grip->second.mine == held) lease = grip->second.lease;
  }
  const auto sent = boot_time();
  std::chrono::seconds lives{0};
  if (lease) {
    const auto kept = client.keep_alive(lease->id);
    if (!kept) return;
    lives = kept.value();
  }
  const auto seen = look(held.partition);
  if (!seen) return;
  if (seen.value().current.epoch != held.epoch) {
    const std::lock_guard lock(mutex);
    if (lease) grips.erase(held.partition);
    events.push_back(EpochLost{held, seen.value().current});
    return;
  }
  if (!lease) return;  // it is somebody's, at this epoch, but was not granted here
  if (lives.count() == 0 || seen.value().alive_lease != lease->id) lease = restore_lease(held);
  if (!lease) return;
  const std::lock_guard lock(mutex);
  watch_leases();
  Grip& grip = grips.at(held.partition);
  grip.lease = *lease;
  grip.valid_until = end_of(*lease, sent);
  if (std::exchange(grip.lapsed, false)) events.push_back(EpochGranted{held});
}

/// Where etcd does not answer the lease lapses by itself.
void EtcdAuthority::Worker::release(const Ownership& held) {
  EtcdLease lease;
  {
    const std::lock_guard lock(mutex);
    const auto grip = grips.find(held.partition);
    if (grip == grips.end() || grip->second.mine != held) return;
    lease = grip->second.lease;
    grips.erase(grip);
  }
  if (const Status revoked = client.revoke(lease.id); !revoked.ok()) return;
}

EtcdAuthority::EtcdAuthority(EtcdAddress flock, EtcdAuthorityOptions options)
    : worker_(std::make_unique<Worker>(std::move(flock), std::move(options))) {}
EtcdAuthority::~EtcdAuthority() = default;

void EtcdAuthority::acquire(PartitionId partition, Epoch expect, AgentId me) {
  worker_->ask({Request::Kind::acquire, {partition, expect, me}});
}
void EtcdAuthority::renew(const Ownership& mine) { worker_->ask({Request::Kind::renew, mine}); }
void EtcdAuthority::release(const Ownership& mine) { worker_->ask({Request::Kind::release, mine}); }

Duration EtcdAuthority::holds_for(const Ownership& mine) {
  const std::lock_guard lock(worker_->mutex);
  const auto grip = worker_->grips.find(mine.partition);
  if (grip == worker_->grips.end() || grip->second.mine != mine) return Duration{0};
  return grip->second.valid_until - boot_time();
}

std::vector<EpochEvent> EtcdAuthority::poll() {
  const std::lock_guard lock(worker_->mutex);
  worker_->watch_leases();
  return std::exchange(worker_->events, {});
}

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
