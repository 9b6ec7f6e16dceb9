// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/partition_standing.h"

#include <charconv>
#include <chrono>
#include <utility>

namespace starling {
namespace {

constexpr std::chrono::seconds kWishLives{5}, kWishPause{1};

AgentId agent_in(const std::string& text, AgentId otherwise) {
  std::from_chars(text.data(), text.data() + text.size(), otherwise.value);
  return otherwise;
}

}  // namespace

Result<FlockStanding> look_at_partitions(EtcdCalls& client, const EtcdAddress& flock,
                                         std::span<const PartitionId> partitions) {
  EtcdTxn txn;
  for (const PartitionId p : partitions) {
    const EtcdKeys keys(flock, p);
    for (const std::string& key : {keys.epoch, keys.alive, keys.hand_back})
      txn.then.push_back(EtcdOp::get(key));
  }
  txn.then.push_back(EtcdOp::get(members_key(flock)));
  const auto answer = client.txn(txn);
  if (!answer) return answer.error();
  if (answer.value().found.size() != txn.then.size())
    return {Errc::invalid, "etcd: an answer of another size than the question"};
  FlockStanding all;
  if (const auto& found = answer.value().found.back(); !found.empty()) {
    auto members = parse_members(found.front().value);
    if (!members) return members.error();
    all.members = std::move(members).value();
    all.members.revision = found.front().revision;
  }
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const auto* found = &answer.value().found[3 * i];
    PartitionStanding s;
    s.current.partition = partitions[i];
    if (!found[0].empty()) {
      const EtcdEntry& owner = found[0].front();
      s.current.epoch = Epoch{static_cast<std::uint64_t>(owner.revision)};
      s.current.owner = agent_in(owner.value, AgentId{});
    }
    if (!found[1].empty()) s.holder = found[1].front().value;
    if (!found[2].empty())
      s.wanted = agent_in(found[2].front().value, AgentId{partitions[i].value});
    all.partitions.push_back(std::move(s));
  }
  return all;
}

HandBackRequest::HandBackRequest(std::unique_ptr<EtcdCalls> etcd, const EtcdAddress& flock,
                                 PartitionId partition, AgentId host, const Clock& clock)
    : etcd_(std::move(etcd)),
      key_(EtcdKeys(flock, partition).hand_back),
      host_(std::to_string(host.value)),
      clock_(clock) {}

HandBackRequest::~HandBackRequest() {
  if (lease_) static_cast<void>(etcd_->revoke(lease_->id).ok());
}

void HandBackRequest::keep() {
  const Instant now = clock_.now();
  if (now < next_) return;
  next_ = now + kWishPause;
  if (lease_) {
    const auto lives = etcd_->keep_alive(lease_->id);
    if (!lives) return;
    if (lives.value().count() == 0) lease_.reset();
  }
  if (lease_) return;
  const auto fresh = etcd_->grant(kWishLives);
  if (!fresh) return;
  const auto put = etcd_->txn({{}, {EtcdOp::put(key_, host_, fresh.value().id)}, {}});
  if (put) lease_ = fresh.value();
}

}  // namespace starling
