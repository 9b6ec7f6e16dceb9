#include "launch/daemon/standby.h"

#include "launch/log.h"
#include "launch/signals.h"

namespace starling {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLook{200};
/// Agents that start together get to their own partitions before anybody else does.
constexpr milliseconds kSettle{6000};
/// The next in the circle comes first, so that they do not all run for it.
constexpr milliseconds kRank{400};
/// After a try that came to nothing.
constexpr milliseconds kRest{3000};

std::string name_of(PartitionId p) { return "partition " + std::to_string(p.value); }

}  // namespace

Standby::Standby(const DaemonParts& host, const std::vector<HostedSeat>& seats) : host_(host) {
  const auto earliest = std::chrono::steady_clock::now() + kSettle;
  for (const HostedSeat& seat : seats) {
    if (seat.seat == 0) continue;
    posts_.push_back(std::make_unique<Post>());
    posts_.back()->seat = seat;
    posts_.back()->not_before = earliest;
  }
  if (posts_.empty()) return;
  if (auto holder = host.state.name()) holder_ = holder.value();
  thread_ = std::thread([this] { watch(); });
}

Standby::~Standby() {
  if (thread_.joinable()) thread_.join();
  for (const auto& post : posts_) {
    if (post->thread.joinable()) post->thread.join();
  }
}

void Standby::watch() {
  const auto flock = EtcdAddress::parse(host_.deployment.state);
  if (!flock) return;  // the process's own partition says so
  EtcdClient client(flock.value(), kEpochCalls);
  std::vector<PartitionId> partitions;
  for (const auto& post : posts_) partitions.push_back(post->seat.partition);
  while (!stop_requested()) {
    if (const auto standings = look_at_partitions(client, flock.value(), partitions)) {
      const auto now = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < posts_.size(); ++i) look(*posts_[i], standings.value()[i], now);
    }
    std::this_thread::sleep_for(kLook);
  }
}

void Standby::look(Post& post, const PartitionStanding& standing, Time now) {
  if (post.serving) {
    if (standing.wanted) post.wanted = true;
    return;
  }
  if (post.thread.joinable()) {
    post.thread.join();
    post.not_before = now + kRest;
  }
  // What has never been served waits for its own agent. A lease of this process that it does not
  // serve is that of an earlier life.
  const bool free = standing.current.epoch.value > 0 && !standing.wanted &&
                    (standing.holder.empty() || standing.holder == holder_);
  if (!free || now < post.not_before) {
    post.due.reset();
    return;
  }
  if (!post.due) post.due = now + kRank * (post.seat.seat - 1);
  if (now < *post.due) return;
  post.due.reset();
  post.wanted = false;
  post.serving = true;
  post.thread = std::thread([this, &post, seen = standing.current] {
    stand_in(post, seen);
    post.serving = false;
  });
}

void Standby::stand_in(Post& post, const Ownership& seen) {
  const std::string name = name_of(post.seat.partition);
  auto taken = take_over(host_.deployment, seen, AgentId{host_.me.partition.value}, host_.state);
  if (!taken) {
    log_info(name + ": not taken over: " + taken.error().message);
    return;
  }
  PartitionState& partition = taken.value();
  log_info(name + ": taken over from agent " + std::to_string(seen.owner.value) + ", epoch " +
           std::to_string(seen.epoch.value) + " is over, epoch " +
           std::to_string(partition.mine.epoch.value) + " begins");
  const Status ended = live(host_, post.seat, partition, post.wanted);
  const std::string epoch = "epoch " + std::to_string(partition.mine.epoch.value);
  if (ended.ok()) {
    log_info(name + ": released at " + epoch + ", stopped on request");
  } else if (ended.error().code == Errc::busy) {
    log_info(name + ": given back to agent " + std::to_string(post.seat.partition.value) + " at " +
             epoch);
  } else {
    log_error(name + ": no longer served at " + epoch + ": " + ended.error().message);
  }
}

}  // namespace starling
