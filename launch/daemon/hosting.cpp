#include "launch/daemon/hosting.h"

#include <algorithm>

#include "bus/spare_files.h"
#include "launch/exit_codes.h"
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
/// After an own seat at which nobody could be heard; doubles from kRest.
constexpr milliseconds kLongestUnheardRest{60'000};
/// Of one more partition: its place on the bus, the first connections, the ways to etcd.
constexpr std::size_t kFilesOfALife = kFilesToListen + 16;
/// After a partition whose executors could not be reached; doubles, up to the second figure.
constexpr milliseconds kOutOfReachRest{60'000}, kLongestRest{960'000};

std::string name_of(PartitionId p) { return "partition " + std::to_string(p.value); }
std::string epoch_text(Epoch epoch) { return "epoch " + std::to_string(epoch.value); }

}  // namespace

Hosting::Hosting(const DaemonParts& host, std::vector<HostedSeat> seats)
    : host_(host), me_(host.me.partition.value) {
  const auto earliest = std::chrono::steady_clock::now() + kSettle;
  for (HostedSeat& seat : seats) {
    auto post = std::make_unique<Post>();
    if (seat.seat != 0) {
      post->prefix = name_of(seat.partition) + ": ";
      post->not_before = earliest;
    }
    post->seat = std::move(seat);
    posts_.push_back(std::move(post));
  }
}

void Hosting::wait_line(std::string& last, const std::string& why) const {
  if (why != last) log_info("waiting: " + why);
  last = why;
}

int Hosting::run() {
  auto flock = EtcdAddress::parse(host_.deployment.state);
  if (!flock) return daemon_failed(flock.error());
  auto holder = host_.state.name();
  if (!holder) return daemon_failed(holder.error());
  flock_ = std::move(flock).value();
  holder_ = std::move(holder).value();
  EtcdClient client(flock_, kEpochCalls);
  std::vector<PartitionId> partitions;
  for (const auto& post : posts_) partitions.push_back(post->seat.partition);
  std::string waits_for;
  while (!stop_requested()) {
    if (const auto seen = look_at_partitions(client, flock_, partitions)) {
      waits_for.clear();
      const FlockMembers& members = seen.value().members;
      const auto now = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < posts_.size(); ++i)
        look(*posts_[i], seen.value().partitions[i], members, now);
      const bool idle = std::none_of(posts_.begin(), posts_.end(),
                                     [](const auto& post) { return post->serving.load(); });
      if (idle && !members.is_host(me_)) {
        log_info("agent-" + std::to_string(me_.value) +
                 " is not a member of the flock and serves nothing; 'starling members add' makes "
                 "it one");
        request_stop();
      }
    } else {
      wait_line(waits_for, seen.error().message);
    }
    std::this_thread::sleep_for(kLook);
  }
  for (const auto& post : posts_) {
    if (post->thread.joinable()) post->thread.join();
  }
  if (status_ == kDone) log_info("stopped on request");
  return status_;
}

/// What can never be right here ends the process, if it is about its own seat.
void Hosting::give_up(int status, const std::string& why) {
  log_error("stopping: " + why);
  status_ = status;
  request_stop();
}

void Hosting::look(Post& post, const PartitionStanding& standing, const FlockMembers& members,
                   Time now) {
  const bool mine = members.is_host(me_) && members.host_of(post.seat.partition) == me_;
  if (post.serving) {
    if (post.held) post.wish.reset();
    if (standing.wanted && *standing.wanted != me_ && !mine) {
      post.wanted_by = standing.wanted->value;
      post.wanted = true;
    }
    return;
  }
  if (post.thread.joinable()) {
    post.thread.join();
    post.not_before = now + milliseconds(post.rest_ms);
  }
  if (!members.is_host(me_)) return post.wish.reset();
  // A lease of this process that it does not serve is that of an earlier life.
  const bool held = !standing.holder.empty() && standing.holder != holder_;
  // Its own preferred host has nothing to settle with anybody.
  const bool first = mine && post.rest_ms == 0;
  if (now < post.not_before && !first) {
    post.due.reset();
    return post.wish.reset();
  }
  if (mine) {
    if (!room_to_serve(post)) return post.wish.reset();
    if (held) return ask_for(post, standing);
    return begin(post, standing);
  }
  post.wish.reset();
  // What has never been served waits for its preferred host.
  const bool free = standing.current.epoch.value > 0 && !standing.wanted && !held;
  if (!free) return post.due.reset();
  if (!post.due) post.due = now + kRank * (post.seat.seat == 0 ? 0 : post.seat.seat - 1);
  if (now >= *post.due && room_to_serve(post)) begin(post, standing);
}

void Hosting::ask_for(Post& post, const PartitionStanding& standing) {
  const Ownership& current = standing.current;
  wait_line(post.waits_for, name_of(current.partition) + " belongs to agent " +
                                std::to_string(current.owner.value) + " at " +
                                epoch_text(current.epoch) + ", whose lease runs");
  // An earlier life of this host has nobody who could grant it.
  if (current.owner == me_) return;
  if (post.wish == nullptr)
    post.wish = std::make_unique<PartitionWish>(flock_, post.seat.partition, me_, kEpochCalls);
  post.wish->keep();
}

/// Without, the partition is left to others rather than taken and let go of again.
bool Hosting::room_to_serve(Post& post) {
  const std::string name = name_of(post.seat.partition);
  const Status room = need_files(kFilesOfALife, "to serve " + name);
  if (!room.ok() && !post.short_of_files) log_error("waiting: " + room.error().message);
  if (room.ok() && post.short_of_files) log_info(name + ": there are file descriptors again");
  post.short_of_files = !room.ok();
  return room.ok();
}

void Hosting::begin(Post& post, const PartitionStanding& standing) {
  post.due.reset();
  post.waits_for.clear();
  post.wanted = false;
  post.held = false;
  post.serving = true;
  post.thread = std::thread([this, &post, seen = standing.current] {
    serve(post, seen);
    post.serving = false;
  });
}

void Hosting::serve(Post& post, const Ownership& seen) {
  const std::string name = name_of(post.seat.partition);
  post.rest_ms = kRest.count();
  auto taken = take_over(host_.deployment, seen, me_, host_.state);
  if (!taken) {
    const Errc why = taken.error().code;
    const bool may_pass =
        why == Errc::io || why == Errc::fenced || why == Errc::conflict || why == Errc::expired;
    if (post.seat.seat == 0 && !may_pass) return give_up(kBadInput, taken.error().message);
    if (post.seat.seat == 0) post.rest_ms = 0;
    return log_info(name + ": not taken over: " + taken.error().message);
  }
  PartitionState& partition = taken.value();
  post.held = true;
  if (seen.owner != me_ && seen.epoch.value > 0) {
    log_info(name + ": taken over from agent " + std::to_string(seen.owner.value) + ", " +
             epoch_text(seen.epoch) + " is over, " + epoch_text(partition.mine.epoch) + " begins");
  }
  const Status why = live(host_, post.seat, partition, post.wanted);
  ended(post, partition.mine, why);
}

void Hosting::ended(Post& post, const Ownership& mine, const Status& why) {
  const std::string name = name_of(mine.partition), epoch = epoch_text(mine.epoch);
  if (why.ok()) return log_info(name + ": released at " + epoch + ", stopped on request");
  const Errc code = why.error().code;
  if (code == Errc::busy) {
    return log_info(name + ": given back to agent " + std::to_string(post.wanted_by) + " at " +
                    epoch);
  }
  log_error(name + ": no longer served at " + epoch + ": " + why.error().message);
  if (code == Errc::expired) {
    post.out_of_reach_rest_ms = std::clamp<std::int64_t>(
        2 * post.out_of_reach_rest_ms, kOutOfReachRest.count(), kLongestRest.count());
    post.rest_ms = post.out_of_reach_rest_ms;
    return;
  }
  if (post.seat.seat != 0) return;
  if (code == Errc::invalid) return give_up(kBadInput, why.error().message);
  if (code == Errc::not_ready) {
    post.unheard_rest_ms = std::clamp<std::int64_t>(2 * post.unheard_rest_ms, kRest.count(),
                                                    kLongestUnheardRest.count());
    post.rest_ms = post.unheard_rest_ms;
    return;
  }
  post.unheard_rest_ms = 0;
  post.rest_ms = 0;  // it waits as after a start
}

}  // namespace starling
