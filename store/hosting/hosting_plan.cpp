// SPDX-License-Identifier: Apache-2.0
#include "store/hosting/hosting_plan.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace starling {
namespace {

using std::chrono::milliseconds;

/// Agents that start together get to their own partitions before any other agent does.
constexpr milliseconds kSettle{6000};
/// The next in the circle comes first, so that they do not all run for it.
constexpr milliseconds kRank{400};
/// After a try that came to nothing.
constexpr Duration kRest = milliseconds(3000);
/// After an own seat at which no executor could be heard; doubles from kRest.
constexpr Duration kLongestUnheardRest = milliseconds(60'000);
/// After a partition whose executors could not be reached; doubles, up to the second figure.
constexpr Duration kOutOfReachRest = milliseconds(60'000), kLongestRest = milliseconds(960'000);

}  // namespace

HostingPlan::HostingPlan(AgentId me, std::string holder, PartitionId partition, std::uint32_t seat,
                         Instant start)
    : me_(me), holder_(std::move(holder)), partition_(partition), seat_(seat) {
  not_before_ = seat == 0 ? start : later(start, kSettle);
}

HostingPlan::Step HostingPlan::look(Instant now, const PartitionStanding& standing,
                                    const FlockMembers& members) {
  const bool member = members.is_host(me_);
  const bool mine = member && members.host_of(partition_) == me_;
  if (serving_) {
    const bool asked_for = standing.wanted && *standing.wanted != me_ && !mine;
    if (asked_for) return {Act::give_back, *standing.wanted, !held_};
    return {Act::nothing, {}, !held_};
  }
  if (!member) return {};
  // A lease of this process that it does not serve is that of an earlier life.
  const bool held = !standing.holder.empty() && standing.holder != holder_;
  // Its own preferred host has nothing to settle with others.
  const bool first = mine && rest_ == Duration{0};
  if (now < not_before_ && !first) {
    due_.reset();
    return {};
  }
  if (mine) return {held ? Act::ask : Act::begin, {}, true};
  // What has never been served waits for its preferred host.
  const bool free = standing.current.epoch.value > 0 && !standing.wanted && !held;
  if (!free) {
    due_.reset();
    return {};
  }
  if (!due_) due_ = later(now, kRank * (seat_ == 0 ? 0 : seat_ - 1));
  return {now >= *due_ ? Act::begin : Act::nothing, {}, false};
}

void HostingPlan::began() {
  due_.reset();
  serving_ = true;
  held_ = false;
}

void HostingPlan::ended(Instant now, End how) {
  serving_ = held_ = false;
  const bool own = seat_ == 0;
  rest_ = kRest;
  if (how == End::out_of_reach) {
    out_of_reach_rest_ = std::clamp(2 * out_of_reach_rest_, kOutOfReachRest, kLongestRest);
    rest_ = out_of_reach_rest_;
  } else if (own && how == End::unheard) {
    unheard_rest_ = std::clamp(2 * unheard_rest_, kRest, kLongestUnheardRest);
    rest_ = unheard_rest_;
  } else if (own && how == End::failed) {
    unheard_rest_ = Duration{0};
    rest_ = Duration{0};  // it waits as after a start
  } else if (own && how == End::not_taken) {
    rest_ = Duration{0};
  }
  not_before_ = later(now, rest_);
}

}  // namespace starling
