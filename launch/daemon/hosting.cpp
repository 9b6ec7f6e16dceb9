// SPDX-License-Identifier: Apache-2.0
#include "launch/daemon/hosting.h"

#include <algorithm>

#include "bus/spare_files.h"
#include "launch/command_line/exit_codes.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/transport.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// Of one more partition: its place on the bus, the first connections, the ways to etcd.
constexpr std::size_t kFilesOfALife = kFilesToListen + 16;

std::string name_of(PartitionId p) { return "partition " + std::to_string(p.value); }
std::string epoch_text(Epoch epoch) { return "epoch " + std::to_string(epoch.value); }

}  // namespace

Hosting::Hosting(const DaemonParts& host, std::vector<HostedSeat> seats)
    : host_(host), me_(host.me.partition.value) {
  for (HostedSeat& seat : seats) {
    auto post = std::make_unique<Post>();
    if (seat.seat != 0) post->prefix = name_of(seat.partition) + ": ";
    post->seat = std::move(seat);
    posts_.push_back(std::move(post));
  }
}

void Hosting::wait_line(std::string& last, const std::string& why) const {
  if (why != last) log_info("waiting: " + why);
  last = why;
}

int Hosting::run() {
  auto flock = etcd_address(host_.deployment);
  if (!flock) return daemon_failed(flock.error());
  auto holder = host_.state.name();
  if (!holder) return daemon_failed(holder.error());
  flock_ = std::move(flock).value();
  for (const auto& post : posts_) {
    const HostedSeat& seat = post->seat;
    const Instant now = machine_clock().now();
    post->post.emplace(me_, HostingPlan(me_, holder.value(), seat.partition, seat.seat, now),
                       hands_of(*post));
  }
  EtcdClient client(flock_, kEpochCalls);
  std::vector<PartitionId> partitions;
  for (const auto& post : posts_) partitions.push_back(post->seat.partition);
  std::string waits_for;
  while (!stop_requested()) {
    if (const auto seen = look_at_partitions(client, flock_, partitions)) {
      waits_for.clear();
      const FlockMembers& members = seen.value().members;
      const Instant now = machine_clock().now();
      for (std::size_t i = 0; i < posts_.size(); ++i)
        posts_[i]->post->look(now, seen.value().partitions[i], members);
      const bool idle = std::none_of(posts_.begin(), posts_.end(),
                                     [](const auto& post) { return post->post->serving(); });
      if (idle && !members.is_host(me_)) {
        log_info("agent-" + std::to_string(me_.value) +
                 " is not a member of the flock and serves nothing; 'starling members add' makes "
                 "it one");
        request_stop();
      }
    } else {
      wait_line(waits_for, seen.error().message);
    }
    std::this_thread::sleep_for(kHostingPollEvery);
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

HostingPost::Hands Hosting::hands_of(Post& post) {
  return {
      [this, &post] {
        return std::make_unique<HandBackRequest>(std::make_unique<EtcdClient>(flock_, kEpochCalls),
                                                 flock_, post.seat.partition, me_, machine_clock());
      },
      [this, &post] { return room_to_serve(post); },
      [this, &post](const Ownership& seen) { begin(post, seen); }, [&post] { post.thread.join(); },
      [this, &post](const std::string& why) { wait_line(post.waits_for, why); }};
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

void Hosting::begin(Post& post, const Ownership& seen) {
  post.waits_for.clear();
  post.thread = std::thread([this, &post, seen] { post.post->over(serve(post, seen)); });
}

HostingPlan::End Hosting::serve(Post& post, const Ownership& seen) {
  const std::string name = name_of(post.seat.partition);
  auto taken = take_over(host_.deployment, seen, me_, host_.state);
  if (!taken) {
    const Errc why = taken.error().code;
    const bool may_pass =
        why == Errc::io || why == Errc::fenced || why == Errc::conflict || why == Errc::expired;
    if (post.seat.seat == 0 && !may_pass) {
      give_up(kBadInput, taken.error().message);
    } else if (post.not_taken != taken.error().message) {
      log_info(name + ": not taken over: " + taken.error().message);
      post.not_taken = taken.error().message;
    }
    return HostingPlan::End::not_taken;
  }
  post.not_taken.clear();
  PartitionState& partition = taken.value();
  post.post->got();
  if (seen.owner != me_ && seen.epoch.value > 0) {
    log_info(name + ": taken over from agent " + std::to_string(seen.owner.value) + ", " +
             epoch_text(seen.epoch) + " is over, " + epoch_text(partition.mine.epoch) + " begins");
  }
  const Status why = live(host_, post.seat, partition, post.post->wanted());
  return ended(post, partition.mine, why);
}

HostingPlan::End Hosting::ended(Post& post, const Ownership& mine, const Status& why) {
  using End = HostingPlan::End;
  const std::string name = name_of(mine.partition), epoch = epoch_text(mine.epoch);
  if (why.ok()) {
    log_info(name + ": released at " + epoch + ", stopped on request");
    return End::stopped;
  }
  const Errc code = why.error().code;
  if (code == Errc::busy) {
    log_info(name + ": given back to agent " + std::to_string(post.post->wanted_by().value) +
             " at " + epoch);
    return End::given_back;
  }
  log_error(name + ": no longer served at " + epoch + ": " + why.error().message);
  if (code == Errc::expired) return End::out_of_reach;
  if (code == Errc::invalid && post.seat.seat == 0) give_up(kBadInput, why.error().message);
  return code == Errc::not_ready ? End::unheard : End::failed;
}

}  // namespace starling
