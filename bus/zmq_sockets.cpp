// SPDX-License-Identifier: Apache-2.0
#include "bus/zmq_sockets.h"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <string_view>
#include <thread>
#include <utility>

#include "bus/despite_signals.h"
#include "bus/keys.h"
#include "bus/sessions.h"
#include "bus/spare_files.h"

namespace starling {
namespace {

// Enforce that a connection without an answer from the ZAP handler fails. Stock libzmq has it, but
// its stable header keeps the name to itself.
constexpr int kZapEnforceDomain = 93;
constexpr int kLongestSleep_ms = 1000;
// libzmq makes a connection anew when it breaks, but never again after one in which the other end
// broke the protocol: a bit that flipped, a stranger that had the port for a moment, a key that was
// not let in yet. So a socket that has taken nothing for so long, which is more than libzmq waits
// between two tries, gives way to a new one.
constexpr Duration kStale = std::chrono::seconds(10);
// From the last that a host acknowledged until connections with it are given up.
constexpr int kVanished_s = 6;
// A session that was cut off comes back under the name of its old connection, which an agent does
// not take before that has been given up. A caller that is not heard for longer calls by a new
// name.
constexpr Duration kUnanswered = std::chrono::seconds(kVanished_s + 2);
// Frames that wait to be read, of one connection; a peer that sends more waits.
constexpr int kInbox = 1024;
// Begins what a session's connection is called; libzmq's own names begin with 0.
constexpr std::string_view kSessionName = "session/";
// Where there was no file descriptor for a peer, the next look is so much later.
constexpr Duration kShortPause = std::chrono::milliseconds(100);
// What encryption adds to a frame (33 bytes), with room to spare.
constexpr std::int64_t kEnvelope = 64;

/// "session/7/..." of a fresh key, which cannot be guessed.
std::string session_name(std::uint32_t session) {
  const Result<KeyPair> random = generate_keys();
  return std::string(kSessionName) + std::to_string(session) + "/" +
         (random ? random.value().public_key : "");
}

/// Which session a connection of that name is; 0 for all that do not say.
std::uint32_t session_named(std::string_view name) {
  if (!name.starts_with(kSessionName)) return 0;
  name.remove_prefix(kSessionName.size());
  std::uint32_t session = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), session);
  if (error != std::errc{} || end == name.data() + name.size() || *end != '/') return 0;
  return session < kSessions ? session : 0;
}

}  // namespace

ZmqEndpoint::Sockets::Sockets(const ZmqOptions& o, Flock f, const Clock& c)
    : options(o), flock(std::move(f)), clock(c), context(1) {}

ZmqEndpoint::Sockets::~Sockets() {
  peers.clear();
  router.close();
  context.shutdown();  // ends the ZAP thread
  zap.reset();
}

void ZmqEndpoint::Sockets::prepare(zmq::socket_t& s) const {
  const int queue = static_cast<int>(options.limits.outbox_frames);
  s.set(zmq::sockopt::maxmsgsize,
        static_cast<std::int64_t>(options.limits.frame_bytes) + kEnvelope);
  s.set(zmq::sockopt::sndhwm, queue);
  s.set(zmq::sockopt::rcvhwm, queue);
  s.set(zmq::sockopt::linger, 0);
  s.set(zmq::sockopt::immediate, true);  // no queue before there is a connection, none after it
  s.set(zmq::sockopt::handshake_ivl, 2000);
  // A host that vanished is noticed by the kernel, and its queue dropped. Heartbeats of libzmq
  // would notice, too, but abort the process where a connection breaks whose frames are not read.
  s.set(zmq::sockopt::tcp_keepalive, 1);
  s.set(zmq::sockopt::tcp_keepalive_idle, kVanished_s / 3);
  s.set(zmq::sockopt::tcp_keepalive_intvl, kVanished_s / 3);
  s.set(zmq::sockopt::tcp_keepalive_cnt, 2);
  s.set(zmq::sockopt::tcp_maxrt, kVanished_s * 1000);
  if (options.keys) {
    s.set(zmq::sockopt::curve_publickey, options.keys->public_key);
    s.set(zmq::sockopt::curve_secretkey, options.keys->secret_key);
  }
}

Status ZmqEndpoint::Sockets::listen(const std::string& where) {
  router = zmq::socket_t(context, zmq::socket_type::router);
  prepare(router);
  router.set(zmq::sockopt::rcvhwm, kInbox);
  router.set(zmq::sockopt::router_mandatory, true);
  router.set(zmq::sockopt::backlog, 1024);
  router.set(zmq::sockopt::ipv6, where.find('[') != std::string::npos);
  if (options.keys) {
    router.set(zmq::sockopt::curve_server, true);
    router.set(zmq::sockopt::zap_domain, std::string(kZapDomain));
    const int enforce = 1;
    if (zmq_setsockopt(router.handle(), kZapEnforceDomain, &enforce, sizeof enforce) != 0) {
      return {Errc::unsupported, "bus: this libzmq cannot enforce authentication (option 93)"};
    }
  } else {
    router.set(zmq::sockopt::router_handover, true);  // a restarted peer takes its name back
  }
  // An ipc socket is its owner's alone from the first moment. The mask is the whole process's, so
  // it is left alone where no file is made.
  const bool is_file = where.starts_with("ipc://");
  const mode_t before = is_file ? ::umask(0177) : 0;
  Status bound = done();
  try {
    despite_signals([&] { router.bind(where); });
  } catch (const zmq::error_t& e) {
    bound = {Errc::io, "bus: cannot listen at " + where + ": " + e.what()};
  }
  if (is_file) ::umask(before);
  if (!bound.ok()) return bound;
  address = router.get(zmq::sockopt::last_endpoint);
  return done();
}

Status ZmqEndpoint::Sockets::test_itself() {
  const std::uint64_t before = zap->refused();
  switch (try_as_stranger(context, address, options.keys->public_key)) {
    case StrangerTest::refused:
      break;
    case StrangerTest::let_in:
      return {Errc::unsupported, "bus: " + address + " let a stranger's key in; refusing to serve"};
    case StrangerTest::no_answer:
      return {Errc::not_ready,
              "bus: " + address +
                  " did not answer its own test of keys in time; this machine may be too busy"};
  }
  self_tests += zap->refused() - before;
  return done();
}

Status ZmqEndpoint::Sockets::listen_anew() {
  router.set(zmq::sockopt::linger, 0);
  router.close();
  callers.clear();
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    Status s = despite_signals([&] { return listen(address); });
    // The closed socket lets go of the port a moment later.
    if (s.ok()) return despite_signals([&] { return test_itself(); });
    if (std::chrono::steady_clock::now() > until) return s;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

ZmqEndpoint::Sockets::Peer* ZmqEndpoint::Sockets::dealer(NodeSeat to, const SeatAddress& seat) {
  if (const auto it = peers.find(to); it != peers.end()) return &it->second;
  if (seat.address.empty() || peers.size() >= options.limits.peers) return nullptr;
  const Instant now = clock.now();
  const bool looked = short_since && now - *short_since < kShortPause;
  if (looked || spare_files() < kFilesToConnect) {
    if (!looked) short_since = now;
    ++counters.short_of_files;
    return nullptr;
  }
  zmq::socket_t s(context, zmq::socket_type::dealer);
  prepare(s);
  s.set(zmq::sockopt::ipv6, true);
  s.set(zmq::sockopt::reconnect_ivl, 100);
  // A caller may have to wait for a seat that no agent has taken yet.
  s.set(zmq::sockopt::reconnect_ivl_max, router ? 5000 : 500);
  if (options.keys) {
    s.set(zmq::sockopt::curve_serverkey, seat.public_key);
    if (session_of(options.me) > 0)
      s.set(zmq::sockopt::routing_id, session_name(session_of(options.me)));
  } else {
    s.set(zmq::sockopt::routing_id, text_of({options.me, options.seat}));
  }
  s.connect(seat.address);
  return &peers.emplace(to, Peer{std::move(s), Outbox(kMembersOutbox, to_members)}).first->second;
}

bool ZmqEndpoint::Sockets::take(zmq::socket_t& s, bool routed, bool& any) {
  any = false;
  if (routed) {
    if (!s.recv(route, zmq::recv_flags::dontwait)) return false;
    any = true;
    if (!route.more()) return false;
    if (!s.recv(payload, zmq::recv_flags::dontwait)) return false;
  } else {
    if (!s.recv(payload, zmq::recv_flags::dontwait)) return false;
    any = true;
  }
  if (!payload.more()) return true;
  zmq::message_t rest;
  do {
    if (!s.recv(rest, zmq::recv_flags::dontwait)) break;
  } while (rest.more());
  return false;
}

std::optional<NodeSeat> ZmqEndpoint::Sockets::sender() const {
  if (options.keys) {
    // Read from the payload: the route's frame loses the property after a poll. A connection
    // outlives the key that it was made with; what it says does not.
    const char* user = zmq_msg_gets(payload.handle(), "User-Id");
    auto place = user != nullptr ? place_of_user(user, flock) : std::nullopt;
    if (place && flock.at(place->node).address.empty())
      place->node = session_node(place->node, session_named({route.data<char>(), route.size()}));
    return place;
  }
  const auto place = place_in({route.data<char>(), route.size()});
  if (!place) return std::nullopt;
  const auto member = member_for(flock, place->node);
  if (member == flock.end() || place->seat >= member->second.seats()) return std::nullopt;
  return place;
}

ZmqEndpoint::Sockets::Caller& ZmqEndpoint::Sockets::caller(NodeId node) {
  const auto at = callers.find(node);
  if (at != callers.end()) return at->second;
  return callers.emplace(node, Caller{"", Outbox(kCallersOutbox, to_callers)}).first->second;
}

Delivery ZmqEndpoint::Sockets::delivery(NodeSeat from) {
  ++counters.frames_in;
  const auto* data = payload.data<std::byte>();
  const auto member = member_for(flock, from.node);
  return {from.node,
          {data, data + payload.size()},
          from.seat,
          member == flock.end() ? Asker{} : member->second.holder};
}

std::optional<Delivery> ZmqEndpoint::Sockets::next() {
  bool any = true;
  while (router && any) {
    if (!take(router, true, any)) {
      counters.nameless += any ? 1 : 0;
      continue;
    }
    const std::optional<NodeSeat> from = sender();
    if (!from) {
      ++counters.nameless;
      continue;
    }
    if (member_for(flock, from->node)->second.address.empty()) {
      Caller& by = caller(from->node);
      by.route.assign(route.data<char>(), route.size());
      if (by.outbox.backed_up()) {
        ++counters.unheard;
        continue;
      }
    }
    return delivery(*from);
  }
  if (router) return std::nullopt;
  // A caller: answers come back over its own connections, whose far ends have proven their keys.
  for (auto& [place, peer] : peers) {
    for (any = true; any;) {
      const bool taken = take(peer.socket, false, any);
      if (any) peer.unanswered.reset();
      if (taken) return delivery(place);
      counters.nameless += any ? 1 : 0;
    }
  }
  return std::nullopt;
}

void ZmqEndpoint::Sockets::sleep(Duration at_most) {
  items.clear();
  if (router)
    items.push_back({router.handle(), 0, ZMQ_POLLIN, 0});
  else
    for (auto& [place, peer] : peers) items.push_back({peer.socket.handle(), 0, ZMQ_POLLIN, 0});
  for (const int fd : watched) items.push_back({nullptr, fd, ZMQ_POLLIN, 0});
  // Rounded up: waking a moment early would only mean to sleep again.
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
  const auto capped = static_cast<long>(std::min<std::int64_t>(ms, kLongestSleep_ms));
  zmq_poll(items.data(), static_cast<int>(items.size()), capped);
}

bool ZmqEndpoint::Sockets::send_to(NodeSeat to, const SeatAddress& seat,
                                   std::span<const std::byte> frame) {
  Peer* const peer = dealer(to, seat);
  if (peer == nullptr) return false;
  const Instant now = clock.now();
  const bool room = peer->outbox.has_room(frame.size());
  if (room && peer->socket.send(peer->outbox.message(frame), zmq::send_flags::dontwait)) {
    refusing.erase(to);
    if (!peer->unanswered) peer->unanswered = now;
    if (!router && now - *peer->unanswered > kUnanswered) peers.erase(to);
    return true;
  }
  const auto since = refusing.emplace(to, now).first;
  if (now - since->second > kStale) {
    refusing.erase(since);
    peers.erase(to);
  }
  return false;
}

bool ZmqEndpoint::Sockets::send_to_member(NodeId to, const Member& member,
                                          std::span<const std::byte> frame) {
  if (const auto found = seat_of.find(to); router && found != seat_of.end()) {
    return send_to({to, found->second}, member.seat(found->second), frame);
  }
  bool sent = false;
  for (std::uint32_t i = 0; i < member.seats(); ++i) {
    sent = send_to({to, i}, member.seat(i), frame) || sent;
  }
  return sent;
}

bool ZmqEndpoint::Sockets::send_to_caller(NodeId to, std::span<const std::byte> frame) {
  const auto it = callers.find(to);
  if (it == callers.end() || !router) return false;
  Caller& by = it->second;
  if (!by.outbox.has_room(frame.size())) return false;
  try {
    const auto dontwait = zmq::send_flags::dontwait;
    if (!router.send(zmq::buffer(by.route), zmq::send_flags::sndmore | dontwait)) return false;
    return router.send(by.outbox.message(frame), dontwait).has_value();
  } catch (const zmq::error_t&) {  // the caller has gone
    callers.erase(it);
    return false;
  }
}

}  // namespace starling
