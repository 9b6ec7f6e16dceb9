// SPDX-License-Identifier: Apache-2.0
#include "bus/zmq_endpoint.h"

#include <algorithm>
#include <utility>

#include "bus/allow_list.h"
#include "bus/despite_signals.h"
#include "bus/sessions.h"
#include "bus/spare_files.h"
#include "bus/zmq_sockets.h"

namespace starling {

ZmqEndpoint::ZmqEndpoint(std::unique_ptr<Sockets> sockets) : sockets_(std::move(sockets)) {}
ZmqEndpoint::~ZmqEndpoint() = default;

Result<std::unique_ptr<ZmqEndpoint>> ZmqEndpoint::open(const ZmqOptions& options, Flock flock,
                                                       const Clock& clock) {
  const NodeId place = place_of(options.me);
  if (Status s = check_place({place, options.seat}, options.keys, options.bind, flock); !s.ok())
    return s.error();
  if (options.keys && zmq_has("curve") == 0)
    return {Errc::unsupported, "bus: this libzmq was built without CURVE"};
  const std::string mine = flock.at(place).seat(options.seat).address;
  const std::string where = options.bind.empty() ? mine : options.bind;
  if (Status s = need_files(where.empty() ? kFilesToCall : kFilesToListen, "bus: an endpoint");
      !s.ok())
    return s.error();

  const auto try_once = [&]() -> Result<std::unique_ptr<ZmqEndpoint>> {
    auto sockets = std::make_unique<Sockets>(options, flock, clock);
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
  };
  try {
    return despite_signals(try_once);
  } catch (const zmq::error_t& e) {
    return {Errc::io, std::string("bus: ") + e.what()};
  }
}

Status ZmqEndpoint::renew(Flock flock, const std::optional<KeyPair>& keys) {
  Sockets& s = *sockets_;
  ZmqOptions options = s.options;
  options.keys = keys;
  if (Status fit =
          check_place({place_of(options.me), options.seat}, options.keys, options.bind, flock);
      !fit.ok())
    return fit;
  if (keys.has_value() != s.options.keys.has_value())
    return {Errc::invalid, "bus: keys cannot come or go while a node runs; restart it"};
  const bool mine_changed = keys && keys->public_key != s.options.keys->public_key;
  if (mine_changed && s.router) {
    if (Status room = need_files(kFilesToListen, "bus: an endpoint that listens anew"); !room.ok())
      return room;
  }
  try {
    std::erase_if(s.peers, [&](const auto& peer) {
      const auto [node, seat] = peer.first;
      const auto was = s.flock.find(node), is = flock.find(node);
      if (mine_changed || was == s.flock.end() || is == flock.end() || seat >= is->second.seats())
        return true;
      const SeatAddress before = was->second.seat(seat), now = is->second.seat(seat);
      return before.address != now.address || before.public_key != now.public_key;
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
      const auto member = member_for(s.flock, to);
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
  // A connection that was tried before its peer listened there may wait seconds for its next try.
  std::erase_if(sockets_->peers, [node](const auto& peer) { return peer.first.node == node; });
  sockets_->seat_of[node] = seat;
}

void ZmqEndpoint::drop(NodeId node) {
  std::erase_if(sockets_->peers, [node](const auto& peer) { return peer.first.node == node; });
  sockets_->callers.erase(node);
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
