// SPDX-License-Identifier: Apache-2.0
#include "sim/hosting/host.h"

#include <algorithm>
#include <utility>

#include "agents/config.h"
#include "sim/hosting/hosting_world.h"
#include "sim/hosting/task_authority.h"
#include "store/etcd/etcd_journal.h"
#include "store/hosting/partition_takeover.h"

namespace starling {
namespace {

using std::chrono::milliseconds;

constexpr Duration kHeartbeat = Timers{}.heartbeat;
constexpr Duration kPoll = milliseconds(20);  // seldom enough for a simulation
constexpr std::uint64_t kCompactedAt = std::uint64_t{256} << 10U;

}  // namespace

/// What the tasks of one life share. It lasts as long as the last of them.
struct SimHost::Life {
  std::vector<PartitionId> partitions;
  std::vector<std::unique_ptr<HostingPost>> posts;
};

SimHost::SimHost(HostingWorld& world, AgentId me, Rng rng)
    : world_(world),
      me_(me),
      rng_(rng),
      holder_("disk-" + std::to_string(me.value)),
      machine_{world.tasks(), world.tasks().new_group(), {}, false, {}},
      clock_(machine_) {}

std::unique_ptr<SimEtcdWay> SimHost::way(const EtcdOptions& options) {
  return std::make_unique<SimEtcdWay>(world_.etcd(), machine_, world_.weather(),
                                      rng_.fork(rng_.next()), options);
}

void SimHost::set_rate(double rate) { machine_.clock.set_rate(world_.tasks().now(), rate); }

void SimHost::freeze(Duration lasts) {
  world_.tasks().freeze(machine_.group, world_.tasks().now() + lasts);
}

void SimHost::kill() {
  alive_ = false;
  world_.tasks().end(machine_.group);
}

void SimHost::start() {
  if (std::exchange(alive_, true)) return;
  const auto life = std::make_shared<Life>();
  for (const auto& [partition, seat] : world_.seats_of(me_)) {
    const std::size_t i = life->posts.size();
    HostingPost::Hands hands{[this, p = partition] {
                               return std::make_unique<HandBackRequest>(
                                   way(kEpochCalls), world_.flock(), p, me_, clock_);
                             },
                             [] { return true; },
                             // Tasks hold the life, its posts do not.
                             [this, weak = std::weak_ptr<Life>(life), i](const Ownership& seen) {
                               machine_.tasks.start(
                                   machine_.group, [this, life = weak.lock(), i, seen] {
                                     HostingPost& post = *life->posts[i];
                                     post.over(serve(post, life->partitions[i], seen));
                                   });
                             },
                             [] {}, [](const std::string&) {}};
    life->partitions.push_back(partition);
    life->posts.push_back(std::make_unique<HostingPost>(
        me_, HostingPlan(me_, holder_, partition, seat, clock_.now()), std::move(hands)));
  }
  machine_.tasks.start(machine_.group, [this, life] { look_around(*life); });
}

void SimHost::look_around(Life& life) {
  const auto etcd = way(kEpochCalls);
  for (;; clock_.wait(kHostingPollEvery)) {
    const auto seen = look_at_partitions(*etcd, world_.flock(), life.partitions);
    if (!seen) continue;
    for (std::size_t i = 0; i < life.posts.size(); ++i)
      life.posts[i]->look(clock_.now(), seen.value().partitions[i], seen.value().members);
  }
}

HostingPlan::End SimHost::serve(HostingPost& post, PartitionId partition, const Ownership& seen) {
  using End = HostingPlan::End;
  TaskAuthority authority(machine_, way(kEpochCalls), world_.flock(), holder_);
  const TakeoverTools tools{
      [this](const Ownership& mine, std::function<void()> progress) {
        EtcdWays ways{way({}), way({}), std::launch::deferred};
        return EtcdJournal::open_by(std::move(ways), world_.flock(), mine, std::move(progress));
      },
      clock_, [this](Duration lasts) { clock_.wait(std::max(lasts, kPoll)); }};
  auto taken = take_partition(authority, seen, me_, tools);
  if (!taken) {
    if (taken.error().code == Errc::invalid) world_.wrong("H2", taken.error().message);
    return End::not_taken;
  }
  post.got();
  const Ownership mine = taken.value().mine;
  Journal& journal = *taken.value().journal;
  std::vector<Record> all = std::move(taken.value().recovered);
  world_.took(mine);
  world_.say("H2", world_.journal(partition).read(mine.epoch, all));
  if (deaf_) {
    authority.release(mine);
    return End::unheard;
  }
  Instant keeps = clock_.now();
  for (;;) {
    if (post.wanted()) {
      authority.release(mine);
      return End::given_back;
    }
    if (clock_.now() >= keeps) {
      keeps = clock_.now() + kHeartbeat;
      strike_after_renewal();
      if (!keep_epoch(authority, mine, [](const std::string&) {}).ok()) return End::failed;
    }
    if (authority.holds_for(mine) > Duration{0} && !cycle(authority, mine, journal, all).ok())
      return End::failed;
    clock_.wait(milliseconds(20 + rng_.below(300)));
  }
}

void SimHost::strike_in_write() {
  if (!rng_.chance(world_.strikes())) return;
  world_.count("frozen in a write");
  freeze(from_seconds(15 * rng_.uniform()));
}

void SimHost::strike_after_renewal() {
  if (!rng_.chance(world_.strikes())) return;
  world_.count("cut after a renewal");
  const Instant now = machine_.tasks.now(), from = now + from_seconds(1.5 * rng_.uniform());
  machine_.tasks.at(from, [this] { cut(true); });
  machine_.tasks.at(from + from_seconds(6 + 9 * rng_.uniform()), [this] { cut(false); });
}

Status SimHost::cycle(TaskAuthority& authority, const Ownership& mine, Journal& journal,
                      std::vector<Record>& all) {
  world_.speaks(mine);
  JournalModel& model = world_.journal(mine.partition);
  const bool grows = world_.wants_more(mine.partition);
  JournalModel::Batch batch(grows ? kLargeBatch : 1 + rng_.below(20));
  std::vector<Record> records;
  for (std::uint64_t& number : batch) {
    number = world_.next_number();
    records.push_back(JournalModel::record(number, grows || rng_.chance(0.01)));
  }
  model.writes(mine.epoch, batch);
  strike_in_write();
  if (Status written = journal.append(records); !written.ok()) return written;
  world_.say("H2", model.wrote(mine.epoch, batch));
  all.insert(all.end(), records.begin(), records.end());
  if (authority.holds_for(mine) > Duration{0}) {
    world_.speaks(mine);
    world_.served(mine.partition, me_);
  }
  if (rng_.chance(0.01) && journal.bytes() > kCompactedAt && !world_.wants_more(mine.partition)) {
    // One that is under way is gone on with.
    if (const auto more = journal.step_compaction(); more && !more.value()) {
      if (Status begun = journal.begin_compaction(all); !begun.ok()) return begun;
    }
  }
  const Result<bool> step = journal.step_compaction();
  return step ? done() : Status(step.error());
}

}  // namespace starling
