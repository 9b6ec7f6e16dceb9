// SPDX-License-Identifier: Apache-2.0
#include "launch/deployment/etcd_memory.h"

#include <chrono>

#include "launch/deployment/etcd_state.h"
#include "store/etcd/etcd_client.h"
#include "store/etcd/etcd_entries.h"

namespace starling {
namespace {

/// The agent does nothing else meanwhile, and its lease has to be renewed.
constexpr EtcdOptions kShort{std::chrono::milliseconds(1000), std::chrono::milliseconds(500)};

}  // namespace

Result<std::string> read_etcd_memory(const Deployment& deployment, PartitionId partition) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  const auto found =
      EtcdClient(flock.value(), kShort).get(etcd_memory_key(EtcdKeys(flock.value(), partition)));
  if (!found) return found.error();
  return found.value() ? found.value()->value : std::string();
}

Status keep_etcd_memory(const Deployment& deployment, const Ownership& mine,
                        std::span<const std::byte> memory) {
  const auto flock = etcd_address(deployment);
  if (!flock) return flock.error();
  const EtcdKeys keys(flock.value(), mine.partition);
  const auto kept =
      EtcdClient(flock.value(), kShort)
          .txn({{EtcdCompare::revision_is(keys.epoch, static_cast<std::int64_t>(mine.epoch.value))},
                {EtcdOp::put(
                    etcd_memory_key(keys),
                    std::string(reinterpret_cast<const char*>(memory.data()), memory.size()))},
                {}});
  if (!kept) return kept.error();
  if (kept.value().held) return done();
  return {Errc::fenced, "another process owns partition " + std::to_string(mine.partition.value)};
}

}  // namespace starling
