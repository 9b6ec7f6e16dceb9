#include "bus/zmq_endpoint.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>
#include <zmq.hpp>

#include "bus/allow_list.h"
#include "bus/zap.h"

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
// What encryption adds to a frame (33 bytes), with room to spare.
constexpr std::int64_t kEnvelope = 64;

}  // namespace

struct ZmqEndpoint::Sockets {
  Sockets(const ZmqOptions& o, Flock f, const Clock& c)
      : options(o), flock(std::move(f)), clock(c), context(1) {}
  ~Sockets() {
    peers.clear();
    router.close();
    context.shutdown();  // ends the ZAP thread
    zap.reset();
  }

  // ROUTER's and DEALERs' common settings.
  void prepare(zmq::socket_t& s) const {
    const int queue = static_cast<int>(options.limits.outbox_frames);
    s.set(zmq::sockopt::maxmsgsize,
          static_cast<std::int64_t>(options.limits.frame_bytes) + kEnvelope);
    s.set(zmq::sockopt::sndhwm, queue);
    s.set(zmq::sockopt::rcvhwm, queue);
    s.set(zmq::sockopt::linger, 0);
    s.set(zmq::sockopt::immediate, true);  // no queue before there is a connection, none after it
    s.set(zmq::sockopt::handshake_ivl, 2000);
    s.set(zmq::sockopt::heartbeat_ivl,
          2000);  // a host that vanished is noticed, and its queue dropped
    s.set(zmq::sockopt::heartbeat_timeout, 6000);
    if (options.keys) {
      s.set(zmq::sockopt::curve_publickey, options.keys->public_key);
      s.set(zmq::sockopt::curve_secretkey, options.keys->secret_key);
    }
  }

  Status listen(const std::string& where) {
    router = zmq::socket_t(context, zmq::socket_type::router);
    prepare(router);
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
      router.bind(where);
    } catch (const zmq::error_t& e) {
      bound = {Errc::io, "bus: cannot listen at " + where + ": " + e.what()};
    }
    if (is_file) ::umask(before);
    if (!bound.ok()) return bound;
    address = router.get(zmq::sockopt::last_endpoint);
    return done();
  }

  /// A stranger's key must be refused.
  Status test_itself() {
    const std::uint64_t before = zap->refused();
    if (!refuses_strangers(context, address, options.keys->public_key)) {
      return {Errc::unsupported, "bus: " + address +
                                     " let a stranger's key in, or did not answer; refusing to "
                                     "serve"};
    }
    self_tests += zap->refused() - before;
    return done();
  }

  /// Listens at the same place with other keys; connections that are there end.
  Status listen_anew() {
    router.set(zmq::sockopt::linger, 0);
    router.close();
    routes.clear();
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    for (;;) {
      const Status s = listen(address);
      // The closed socket lets go of the port a moment later.
      if (s.ok()) return test_itself();
      if (std::chrono::steady_clock::now() > until) return s;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }

  zmq::socket_t* dealer(NodeSeat to, const Seat& seat) {
    if (const auto it = peers.find(to); it != peers.end()) return &it->second;
    if (seat.address.empty() || peers.size() >= options.limits.peers) return nullptr;
    zmq::socket_t s(context, zmq::socket_type::dealer);
    prepare(s);
    s.set(zmq::sockopt::ipv6, true);
    s.set(zmq::sockopt::reconnect_ivl, 100);
    // A caller may have to wait for a seat that nobody has taken yet.
    s.set(zmq::sockopt::reconnect_ivl_max, router ? 5000 : 500);
    if (options.keys) {
      s.set(zmq::sockopt::curve_serverkey, seat.public_key);
    } else {
      s.set(zmq::sockopt::routing_id, text_of({options.me, options.seat}));
    }
    s.connect(seat.address);
    return &peers.emplace(to, std::move(s)).first->second;
  }

  /// Takes one message of any number of parts; true if it was [sender's route][one frame].
  bool take(zmq::socket_t& s, bool routed, bool& any) {
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

  /// Who sent `payload`: proven by its key, or without keys merely claimed by its route.
  std::optional<NodeSeat> sender() const {
    if (options.keys) {
      // Read from the payload: the route's frame loses the property after a poll. A connection
      // outlives the key that it was made with; what it says does not.
      const char* user = zmq_msg_gets(payload.handle(), "User-Id");
      return user != nullptr ? place_of_user(user, flock) : std::nullopt;
    }
    const auto place = place_in({route.data<char>(), route.size()});
    if (!place) return std::nullopt;
    const auto member = flock.find(place->node);
    if (member == flock.end() || place->seat >= member->second.seats()) return std::nullopt;
    return place;
  }

  Delivery delivery(NodeSeat from) {
    ++counters.frames_in;
    const auto* data = payload.data<std::byte>();
    return {from.node, {data, data + payload.size()}, from.seat};
  }

  std::optional<Delivery> next() {
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
      if (flock.at(from->node).address.empty()) {
        routes[from->node].assign(route.data<char>(), route.size());
      }
      return delivery(*from);
    }
    if (router) return std::nullopt;
    // A caller: answers come back over its own connections, whose far ends have proven their keys.
    for (auto& [place, socket] : peers) {
      for (any = true; any;) {
        if (take(socket, false, any)) return delivery(place);
        counters.nameless += any ? 1 : 0;
      }
    }
    return std::nullopt;
  }

  void sleep(Duration at_most) {
    items.clear();
    if (router)
      items.push_back({router.handle(), 0, ZMQ_POLLIN, 0});
    else
      for (auto& [place, socket] : peers) items.push_back({socket.handle(), 0, ZMQ_POLLIN, 0});
    for (const int fd : watched) items.push_back({nullptr, fd, ZMQ_POLLIN, 0});
    // Rounded up: waking a moment early would only mean to sleep again.
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(at_most).count();
    const auto capped = static_cast<long>(std::min<std::int64_t>(ms, kLongestSleep_ms));
    zmq_poll(items.data(), static_cast<int>(items.size()), capped);
  }

  bool send_to(NodeSeat to, const Seat& seat, std::span<const std::byte> frame) {
    zmq::socket_t* const peer = dealer(to, seat);
    if (peer == nullptr) return false;
    if (peer->send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::dontwait)) {
      refusing.erase(to);
      return true;
    }
    const Instant now = clock.now();
    const auto since = refusing.emplace(to, now).first;
    if (now - since->second > kStale) {
      refusing.erase(since);
      peers.erase(to);
    }
    return false;
  }

  bool send_to_member(NodeId to, const Member& member, std::span<const std::byte> frame) {
    if (const auto found = seat_of.find(to); router && found != seat_of.end()) {
      return send_to({to, found->second}, member.seat(found->second), frame);
    }
    bool sent = false;
    for (std::uint32_t i = 0; i < member.seats(); ++i) {
      sent = send_to({to, i}, member.seat(i), frame) || sent;
    }
    return sent;
  }

  bool send_to_caller(NodeId to, std::span<const std::byte> frame) {
    const auto it = routes.find(to);
    if (it == routes.end() || !router) return false;
    try {
      const auto dontwait = zmq::send_flags::dontwait;
      if (!router.send(zmq::buffer(it->second), zmq::send_flags::sndmore | dontwait)) return false;
      return router.send(zmq::buffer(frame.data(), frame.size()), dontwait).has_value();
    } catch (const zmq::error_t&) {  // the caller has gone
      routes.erase(it);
      return false;
    }
  }

  ZmqOptions options;
  Flock flock;
  const Clock& clock;
  zmq::context_t context;
  std::unique_ptr<ZapHandler> zap;
  std::uint64_t self_tests = 0;  // refusals that we provoked
  zmq::socket_t router;
  std::string address;
  std::map<NodeSeat, zmq::socket_t> peers;
  std::map<NodeSeat, Instant> refusing;  // peers' sockets that take no frame, since when
  std::unordered_map<NodeId, std::uint32_t> seat_of;  // where the newest life of a node was heard
  std::unordered_map<NodeId, std::string> routes;     // of callers, last seen
  std::vector<int> watched;
  std::vector<zmq_pollitem_t> items;
  zmq::message_t route;
  zmq::message_t payload;
  ZmqCounters counters;
};

ZmqEndpoint::ZmqEndpoint(std::unique_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
ZmqEndpoint::~ZmqEndpoint() = default;

Result<std::unique_ptr<ZmqEndpoint>> ZmqEndpoint::open(const ZmqOptions& options, Flock flock,
                                                       const Clock& clock) {
  if (Status s = check_place({options.me, options.seat}, options.keys, options.bind, flock);
      !s.ok())
    return s.error();
  if (options.keys && zmq_has("curve") == 0)
    return {Errc::unsupported, "bus: this libzmq was built without CURVE"};
  const std::string mine = flock.at(options.me).seat(options.seat).address;
  const std::string where = options.bind.empty() ? mine : options.bind;

  try {
    auto sockets = std::make_unique<Sockets>(options, std::move(flock), clock);
    const int most = sockets->context.get(zmq::ctxopt::socket_limit);
    sockets->context.set(zmq::ctxopt::max_sockets,
                         std::min(most, static_cast<int>(options.limits.peers) + 64));
    if (options.keys) {
      sockets->zap = std::make_unique<ZapHandler>(sockets->context, allow_list(sockets->flock));
    }
    if (!where.empty()) {
      if (Status s = sockets->listen(where); !s.ok()) return s.error();
      if (options.keys) {
        if (Status s = sockets->test_itself(); !s.ok()) return s.error();
      }
    }
    return std::unique_ptr<ZmqEndpoint>(new ZmqEndpoint(std::move(sockets)));
  } catch (const zmq::error_t& e) {
    return {Errc::io, std::string("bus: ") + e.what()};
  }
}

Status ZmqEndpoint::renew(Flock flock, const std::optional<KeyPair>& keys) {
  Sockets& s = *sockets_;
  ZmqOptions options = s.options;
  options.keys = keys;
  if (Status fit = check_place({options.me, options.seat}, options.keys, options.bind, flock);
      !fit.ok())
    return fit;
  if (keys.has_value() != s.options.keys.has_value())
    return {Errc::invalid, "bus: keys cannot come or go while a node runs; restart it"};
  const bool mine_changed = keys && keys->public_key != s.options.keys->public_key;
  try {
    std::erase_if(s.peers, [&](const auto& peer) {
      const auto [node, seat] = peer.first;
      const auto was = s.flock.find(node), is = flock.find(node);
      return mine_changed || was == s.flock.end() || is == flock.end() ||
             seat >= is->second.seats() || was->second.seat(seat) != is->second.seat(seat);
    });
    s.options.keys = keys;
    s.flock = std::move(flock);
    if (s.zap) s.zap->allow(allow_list(s.flock));
    return mine_changed && s.router ? s.listen_anew() : done();
  } catch (const zmq::error_t& e) {
    return {Errc::io, std::string("bus: ") + e.what()};
  }
}

bool ZmqEndpoint::send(NodeId to, std::span<const std::byte> frame) {
  Sockets& s = *sockets_;
  bool sent = false;
  if (frame.size() <= s.options.limits.frame_bytes) {
    try {
      const auto member = s.flock.find(to);
      if (member == s.flock.end()) {
        sent = false;
      } else if (member->second.address.empty()) {
        sent = s.send_to_caller(to, frame);
      } else {
        sent = s.send_to_member(to, member->second, frame);
      }
    } catch (const zmq::error_t&) {  // out of sockets, a bad address: as good as unreachable
      sent = false;
    }
  }
  ++(sent ? s.counters.frames_out : s.counters.dropped);
  return sent;
}

std::optional<Delivery> ZmqEndpoint::receive(Instant deadline) {
  Sockets& s = *sockets_;
  try {
    if (auto d = s.next()) return d;
    const Instant now = s.clock.now();
    if (deadline <= now) return std::nullopt;
    s.sleep(deadline - now);
    return s.next();
  } catch (const zmq::error_t&) {  // interrupted by a signal
    return std::nullopt;
  }
}

void ZmqEndpoint::watch(int fd) { sockets_->watched.push_back(fd); }
const std::string& ZmqEndpoint::address() const noexcept { return sockets_->address; }

void ZmqEndpoint::moved(NodeId node, std::string address) {
  drop(node);
  if (const auto it = sockets_->flock.find(node); it != sockets_->flock.end()) {
    it->second.address = std::move(address);
  }
}

void ZmqEndpoint::found_at(NodeId node, std::uint32_t seat) {
  const auto known = sockets_->seat_of.find(node);
  if (known != sockets_->seat_of.end() && known->second == seat) return;
  // A connection that was tried before anybody listened there may wait seconds for its next try.
  std::erase_if(sockets_->peers, [node](const auto& peer) { return peer.first.node == node; });
  sockets_->seat_of[node] = seat;
}

void ZmqEndpoint::drop(NodeId node) {
  std::erase_if(sockets_->peers, [node](const auto& peer) { return peer.first.node == node; });
  sockets_->routes.erase(node);
  sockets_->seat_of.erase(node);
}

ZmqCounters ZmqEndpoint::counters() const noexcept {
  ZmqCounters c = sockets_->counters;
  if (sockets_->zap) {
    c.keys_accepted = sockets_->zap->accepted();
    c.keys_refused = sockets_->zap->refused() - sockets_->self_tests;
  }
  return c;
}

}  // namespace starling
