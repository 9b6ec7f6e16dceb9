// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/etcd_loss.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <utility>

#include "launch/deployment/etcd_state.h"
#include "launch/system/files.h"
#include "launch/system/text.h"
#include "store/await_epoch.h"
#include "store/etcd/etcd_authority.h"
#include "store/etcd/etcd_copy.h"
#include "store/etcd/etcd_entries.h"
#include "store/etcd/etcd_journal.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

Result<std::optional<Told>> read_told(const EtcdAddress& flock, PartitionId partition) {
  const std::string key = etcd_told_key(EtcdKeys(flock, partition));
  const auto found = EtcdClient(flock).get(key);
  if (!found) return {Errc::io, found.error().message};
  if (!found.value()) return std::optional<Told>();
  auto told = parse_told(found.value()->value);
  if (!told) return {Errc::invalid, "'" + key + "' is not what an agent was told"};
  return told;
}

/// The life that an earlier acceptance began with; 0: there was none.
Result<std::uint64_t> accepted_life(const EtcdAddress& flock, PartitionId partition) {
  const std::string key = etcd_accepted_key(EtcdKeys(flock, partition));
  const auto found = EtcdClient(flock).get(key);
  if (!found) return found.error();
  return found.value() ? parse_whole(found.value()->value).value_or(0) : 0;
}

/// Only as long as the partition is still ours.
Status change_told(const EtcdAddress& flock, const Ownership& mine, std::vector<EtcdOp> ops) {
  const auto changed = EtcdClient(flock).txn(
      {{EtcdCompare::revision_is(EtcdKeys(flock, mine.partition).epoch,
                                 static_cast<std::int64_t>(mine.epoch.value))},
       std::move(ops),
       {}});
  if (!changed) return changed.error();
  if (changed.value().held) return done();
  return {Errc::fenced, "another process owns partition " + std::to_string(mine.partition.value)};
}

Error sentence(const Deployment& deployment, PartitionId partition, Incarnation life,
               std::uint64_t position, const Told& told) {
  for (const DeployedNode* agent : deployment.with_role(Role::agent)) {
    if (agent->partition == partition)
      return {Errc::invalid, old_copy_text(*agent, deployment.dir, life, position, told)};
  }
  return {Errc::invalid,
          "the state of partition " + std::to_string(partition.value) + " is an old copy"};
}

Result<fs::path> keep_copy(const EtcdAddress& flock, const StateDir& dir) {
  const fs::path kept = unused_path(dir.path() / "before-loss-", ".etcd");
  if (const Status copied = copy_from_etcd(flock, kept); !copied.ok()) return copied.error();
  return kept;
}

/// Of a partition that no agent serves now.
Result<std::vector<Record>> journal_of(const EtcdAddress& flock, EtcdAuthority& authority,
                                       const Ownership& own, AgentId agent) {
  const auto told = read_told(flock, PartitionId{agent.value});
  if (!told) return told.error();
  if (told.value() && !told.value()->restored)
    return {Errc::conflict, "it is an old copy, and the newer one may come back"};
  const auto mine = await_epoch(authority, PartitionId{agent.value}, agent,
                                [](const EpochRefused&) { return false; });
  if (!mine) return mine.error();
  const auto opened = EtcdJournal::open(flock, mine.value(), {}, [&] {
    authority.renew(own);
    authority.renew(mine.value());
  });
  auto records = opened ? opened.value()->recover() : opened.error();
  authority.release(mine.value());
  return records;
}

std::uint64_t last_life(const std::vector<Record>& records) {
  return after_last_life({}, records).value;
}

}  // namespace

EtcdOp told_in_etcd(const EtcdAddress& flock, PartitionId partition, const Told& told) {
  return EtcdOp::put(etcd_told_key(EtcdKeys(flock, partition)), to_text(told));
}

Status not_an_old_copy(const Deployment& deployment, const Ownership& mine,
                       std::uint64_t position) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  const auto told = read_told(flock.value(), mine.partition);
  if (!told) return told.error();
  if (!told.value()) return done();
  if (told.value()->written == 0 || is_old_copy(*told.value(), position))
    return sentence(deployment, mine.partition, told.value()->life, position, *told.value());
  return change_told(flock.value(), mine,
                     {EtcdOp::erase(etcd_told_key(EtcdKeys(flock.value(), mine.partition)))});
}

Status note_told_in_etcd(const Deployment& deployment, const Ownership& mine, Incarnation life,
                         std::uint64_t position, const Told& told) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  Status noted =
      change_told(flock.value(), mine, {told_in_etcd(flock.value(), mine.partition, told)});
  if (!noted.ok()) return noted;
  return sentence(deployment, mine.partition, life, position, told);
}

Result<AcceptedLoss> accept_etcd_loss(const Deployment& deployment, const DeployedNode& me,
                                      const StateDir& dir) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  const auto told = read_told(flock.value(), me.partition);
  if (!told) return told.error();
  auto holder = dir.name();
  if (!holder) return holder.error();
  EtcdAuthorityOptions options;
  options.holder = std::move(holder).value();
  EtcdAuthority authority(flock.value(), options);
  // One that was killed holds its lease for seconds.
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  const auto mine =
      await_epoch(authority, me.partition, AgentId{me.partition.value},
                  [&](const EpochRefused&) { return std::chrono::steady_clock::now() < give_up; });
  if (!mine) return {mine.error().code, mine.error().message + "; 'starling down' first"};
  const auto work = [&]() -> Result<AcceptedLoss> {
    AcceptedLoss loss;
    auto opened =
        EtcdJournal::open(flock.value(), mine.value(), {}, [&] { authority.renew(mine.value()); });
    if (!opened) return opened.error();
    auto& journal = static_cast<EtcdJournal&>(*opened.value());
    // Before anything is removed.
    const auto kept = keep_copy(flock.value(), dir);
    if (!kept) return kept.error();
    loss.kept = kept.value();
    authority.renew(mine.value());
    auto salvaged = journal.salvage();
    if (!salvaged) return salvaged.error();
    if (salvaged.value().lost.empty() && !told.value()) {
      std::error_code ignored;
      fs::remove(kept.value(), ignored);
      return no_loss(me);
    }
    std::vector<Record> records = std::move(salvaged.value().records);
    loss.records = records.size();
    const auto accepted = accepted_life(flock.value(), me.partition);
    if (!accepted) return accepted.error();
    std::uint64_t life = std::max({last_life(records), accepted.value(), dir.lives()});
    if (told.value()) life = std::max(life, told.value()->life.value);
    life += kSkippedLives;
    const std::vector<Record> ends = end_what_is_open(me, records, loss, [&](AgentId home) {
      return journal_of(flock.value(), authority, mine.value(), home);
    });
    // No peer takes the next life for one that it knows, wherever it is.
    records.emplace_back(LifeBegan{Incarnation{life}, mine.value().epoch});
    records.insert(records.end(), ends.begin(), ends.end());
    journal.go_beyond(std::max(journal.position(), told.value() ? told.value()->written : 0));
    if (const Status written = journal.compact(records); !written.ok()) return written.error();
    const EtcdKeys keys(flock.value(), me.partition);
    const Status forgotten =
        change_told(flock.value(), mine.value(),
                    {EtcdOp::erase(etcd_told_key(keys)),
                     EtcdOp::put(etcd_accepted_key(keys), std::to_string(life))});
    if (!forgotten.ok()) return forgotten.error();
    return loss;
  };
  auto loss = work();
  authority.release(mine.value());
  return loss;
}

}  // namespace starling
