// SPDX-License-Identifier: Apache-2.0
#include "launch/client/session.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/counted.h"
#include "base/login_name.h"
#include "bus/sessions.h"
#include "launch/deployment/readiness.h"
#include "launch/deployment/transport.h"
#include "launch/hooks/hooks.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

/// A wait is cut into pieces of this length, so that Ctrl-C is never far away.
constexpr Duration kSlice = std::chrono::milliseconds(50);
/// A connection is made in milliseconds, and takes no frame before.
constexpr Duration kConnecting = std::chrono::milliseconds(5);
constexpr std::size_t kMostUnsent = 1024;

/// On a full disk the number is not kept, and the next session says the same one: a late answer to
/// this one may reach that, which asks about jobs of its own. Ids of jobs are drawn, not counted.
Result<Incarnation> life_of(const StateDir& place) {
  auto next = place.next_incarnation();
  if (!next && next.error().code == Errc::io) return Incarnation{place.lives() + 1};
  return next;
}

}  // namespace

Session::Session(StateDir place, NodeId me, std::uint32_t agents, Incarnation incarnation,
                 std::unique_ptr<Endpoint> endpoint)
    : place_(std::move(place)),
      me_(me),
      agents_(agents),
      incarnation_(incarnation),
      endpoint_(std::move(endpoint)) {}

Result<std::unique_ptr<Session>> Session::take(const Deployment& flock, const DeployedNode& node,
                                               std::uint32_t session) {
  const auto dir = flock.node_dir(node.name);
  auto place =
      StateDir::take(session == 0 ? dir / "state" : dir / "sessions" / std::to_string(session));
  if (!place) return place.error();
  auto incarnation = life_of(place.value());
  if (!incarnation) return incarnation.error();
  const NodeId me = session_node(node.id, session);
  auto endpoint = open_endpoint(flock, me, dir / "keys.json", Limits{});
  if (!endpoint) return endpoint.error();
  std::unique_ptr<Session> made(new Session(std::move(place).value(), me, flock.agents(),
                                            incarnation.value(), std::move(endpoint).value()));
  const auto members = read_flock(flock.dir / "flock.json");
  if (!members) return members.error();
  if (const auto member = members.value().find(node.id); member != members.value().end())
    made->holder_ = member->second.holder;
  return made;
}

Result<std::unique_ptr<Session>> Session::open(const Deployment& flock) {
  if (const Status s = chaos_live::no_hooks(flock.for_chaos); !s.ok()) return s.error();
  std::vector<const DeployedNode*> places;
  std::optional<std::filesystem::path> denied;
  for (const DeployedNode* node : flock.with_role(Role::client)) {
    const auto keys = flock.node_dir(node->name) / "keys.json";
    // A copy of the directory for another machine has the keys of some places only.
    struct stat info {};
    if (::stat(keys.c_str(), &info) != 0 || ::access(keys.c_str(), R_OK) != 0) {
      if (errno == EACCES && !denied) denied = keys;
      continue;
    }
    // Root can read the keys of others, and is not them.
    if (!is_granted(*node) || info.st_uid == ::geteuid()) places.push_back(node);
  }
  if (places.empty() && denied) return not_for_us(*denied, flock.dir);
  if (places.empty())
    return {Errc::not_found, "there is no key of a client in " + (flock.dir / "nodes").string()};
  for (std::uint32_t session = 0; session < kSessions; ++session) {
    for (const DeployedNode* node : places) {
      auto taken = take(flock, *node, session);
      if (taken || taken.error().code != Errc::conflict) return taken;
    }
  }
  return {Errc::busy, "all " + std::to_string(places.size() * kSessions) +
                          " sessions of this flock's clients are in use; try again when another "
                          "command has ended"};
}

Instant Session::now() { return machine_clock().now(); }

bool Session::stopped() noexcept { return stop_requested(); }

void Session::send(NodeId to, const Message& message) {
  // An agent that came back with an older version cannot tell clients that it did.
  const FrameHeader header{std::min(spoken_with(to), wholly_said_in(message)), incarnation_,
                           ++sequence_};
  const auto frame = codec_.encode(header, message);
  if (frame.empty() || endpoint_->send(to, frame)) return;
  if (unsent_.size() == kMostUnsent) unsent_.pop_front();
  unsent_.push_back({to, {frame.begin(), frame.end()}, later(now(), kRepeat)});
}

void Session::send_unsent() {
  std::erase_if(unsent_, [this, at = now()](const Unsent& one) {
    return one.until <= at || endpoint_->send(one.to, one.frame);
  });
}

std::optional<Received> Session::receive(Instant deadline) {
  for (;;) {
    send_unsent();
    const Instant slice = std::min(deadline, now() + (unsent_.empty() ? kSlice : kConnecting));
    if (auto delivery = endpoint_->receive(slice)) {
      heard_at_[delivery->from] = delivery->seat;
      auto frame = codec_.decode(delivery->frame);
      if (!frame) continue;
      speaks_[delivery->from] = std::min(frame.value().header.speaks, kNewestProtocol);
      return Received{delivery->from, std::move(frame).value().message, speaks_[delivery->from]};
    } else if (now() >= deadline || stop_requested()) {
      return std::nullopt;
    }
  }
}

std::string Session::user() const { return holder_.user.empty() ? login_name() : holder_.user; }

std::uint16_t Session::spoken_with(NodeId node) const {
  const auto heard = speaks_.find(node);
  return heard == speaks_.end() ? kOldestProtocol : heard->second;
}

AgentId Session::host_of(AgentId agent) const {
  const auto heard = heard_at_.find(agent_node(agent));
  return host_of_seat(PartitionId{agent.value}, heard == heard_at_.end() ? 0 : heard->second,
                      agents_);
}

std::vector<AgentStatus> Session::status(Duration patience) {
  std::vector<std::optional<AgentStatus>> found(agents_);
  std::size_t missing = agents_;
  const Instant until = now() + patience;
  while (missing > 0 && now() < until && !stop_requested()) {
    for (std::uint32_t a = 0; a < agents_; ++a) {
      if (!found[a]) send(agent_node(AgentId{a}), StatusQuery{});
    }
    const Instant again = std::min(until, now() + kRepeat);
    while (missing > 0) {
      const auto received = receive(again);
      if (!received) break;
      const auto* status = std::get_if<AgentStatus>(&received->message);
      if (status == nullptr || status->agent.value >= agents_ ||
          received->from != agent_node(status->agent))
        continue;
      if (!found[status->agent.value]) --missing;
      found[status->agent.value] = *status;
    }
  }
  std::vector<AgentStatus> all;
  for (const auto& status : found) {
    if (status) all.push_back(*status);
  }
  return all;
}

Status Session::wait_ready(Duration patience,
                           const std::function<std::optional<std::string>()>& broken,
                           const Enough& enough) {
  const auto all_there = [&](const std::vector<AgentStatus>& all) -> std::optional<std::string> {
    std::uint32_t quarantined = 0;
    for (const AgentStatus& status : all) quarantined += awaited_gpus(status);
    if (all.size() == agents_ && quarantined == 0) return std::nullopt;
    return std::to_string(all.size()) + " of " + std::to_string(agents_) + " agents answer, " +
           counted(quarantined, "GPU waits", "GPUs wait") + " for their executor";
  };
  const Instant until = now() + patience;
  std::string missing;
  while (now() < until) {
    if (broken) {
      if (const auto message = broken()) return {Errc::io, *message};
    }
    if (stop_requested()) return {Errc::io, "interrupted"};
    const auto all = status(kRepeat);
    const auto lacks = enough ? enough(all) : all_there(all);
    if (!lacks) return done();
    missing = *lacks;
    receive(std::min(until, now() + std::chrono::milliseconds(20)));
  }
  return {Errc::not_ready, "the flock is not ready after " +
                               std::to_string(patience / std::chrono::seconds(1)) +
                               " s: " + missing};
}

}  // namespace starling
