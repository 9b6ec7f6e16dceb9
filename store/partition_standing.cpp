#include "store/partition_standing.h"

#include <charconv>

namespace starling {
namespace {

constexpr std::chrono::seconds kWishLives{5}, kWishPause{1};

}  // namespace

Result<std::vector<PartitionStanding>> look_at_partitions(EtcdClient& client,
                                                          const EtcdAddress& flock,
                                                          std::span<const PartitionId> partitions) {
  EtcdTxn txn;
  for (const PartitionId p : partitions) {
    const EtcdKeys keys(flock, p);
    for (const std::string& key : {keys.epoch, keys.alive, keys.wish})
      txn.then.push_back(EtcdOp::get(key));
  }
  const auto answer = client.txn(txn);
  if (!answer) return answer.error();
  if (answer.value().found.size() != txn.then.size())
    return {Errc::invalid, "etcd: an answer of another size than the question"};
  std::vector<PartitionStanding> all;
  for (std::size_t i = 0; i < partitions.size(); ++i) {
    const auto* found = &answer.value().found[3 * i];
    PartitionStanding s;
    s.current.partition = partitions[i];
    if (!found[0].empty()) {
      const EtcdEntry& owner = found[0].front();
      s.current.epoch = Epoch{static_cast<std::uint64_t>(owner.revision)};
      std::from_chars(owner.value.data(), owner.value.data() + owner.value.size(),
                      s.current.owner.value);
    }
    if (!found[1].empty()) s.holder = found[1].front().value;
    s.wanted = !found[2].empty();
    all.push_back(std::move(s));
  }
  return all;
}

PartitionWish::PartitionWish(const EtcdAddress& flock, PartitionId partition,
                             const EtcdOptions& calls)
    : client_(flock, calls), key_(EtcdKeys(flock, partition).wish) {}

PartitionWish::~PartitionWish() {
  if (lease_) static_cast<void>(client_.revoke(lease_->id).ok());
}

void PartitionWish::keep() {
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return;
  next_ = now + kWishPause;
  if (lease_) {
    const auto lives = client_.keep_alive(lease_->id);
    if (!lives) return;
    if (lives.value().count() == 0) lease_.reset();
  }
  if (lease_) return;
  const auto fresh = client_.grant(kWishLives);
  if (!fresh) return;
  const auto put = client_.txn({{}, {EtcdOp::put(key_, "", fresh.value().id)}, {}});
  if (put) lease_ = fresh.value();
}

}  // namespace starling
