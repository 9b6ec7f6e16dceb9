// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>
#include <zmq.hpp>

#include "bus/allow_list.h"
#include "bus/outbox.h"
#include "bus/zap.h"
#include "bus/zmq_endpoint.h"

namespace starling {

/// The sockets of one endpoint and what is kept about their far ends. They may throw zmq::error_t.
struct ZmqEndpoint::Sockets {
  struct Peer {
    zmq::socket_t socket;
    Outbox outbox;
    std::optional<Instant> unanswered = {};  // since when it was spoken to and not heard
  };
  /// A caller that was heard: the name of its connection, and what waits for it.
  struct Caller {
    std::string route;
    Outbox outbox;
  };

  Sockets(const ZmqOptions& o, Flock f, const Clock& c);
  ~Sockets();
  /// ROUTER's and DEALERs' common settings.
  void prepare(zmq::socket_t& s) const;
  Status listen(const std::string& where);
  /// A stranger's key must be refused.
  Status test_itself();
  /// Listens at the same place with other keys; connections that are there end.
  Status listen_anew();
  /// The socket to a peer, made where there is none; null: no address, too many peers, or no file
  /// descriptors.
  Peer* dealer(NodeSeat to, const SeatAddress& seat);
  /// Takes one message of any number of parts; true if it was [sender's route][one frame].
  bool take(zmq::socket_t& s, bool routed, bool& any);
  /// The sender of `payload`: proven by its key, or without keys merely claimed by its route.
  std::optional<NodeSeat> sender() const;
  Delivery delivery(NodeSeat from);
  std::optional<Delivery> next();
  /// Until a frame or a watched descriptor is there, a second at most.
  void sleep(Duration at_most);
  bool send_to(NodeSeat to, const SeatAddress& seat, std::span<const std::byte> frame);
  bool send_to_member(NodeId to, const Member& member, std::span<const std::byte> frame);
  /// The record of a caller, made where there is none.
  Caller& caller(NodeId node);
  bool send_to_caller(NodeId to, std::span<const std::byte> frame);

  ZmqOptions options;
  Flock flock;
  const Clock& clock;
  zmq::context_t context;
  std::unique_ptr<ZapHandler> zap;
  std::uint64_t self_tests = 0;  // refusals that we provoked
  zmq::socket_t router;
  std::string address;
  std::map<NodeSeat, Peer> peers;
  std::map<NodeSeat, Instant> refusing;  // peers' sockets that take no frame, since when
  std::optional<Instant> short_since;    // of file descriptors, when it was last looked
  std::unordered_map<NodeId, std::uint32_t> seat_of;  // where the newest life of a node was heard
  std::unordered_map<NodeId, Caller> callers;
  Outbox::Count to_members = std::make_shared<std::atomic<std::size_t>>(0);
  Outbox::Count to_callers = std::make_shared<std::atomic<std::size_t>>(0);
  std::vector<int> watched;
  std::vector<zmq_pollitem_t> items;
  zmq::message_t route;
  zmq::message_t payload;
  ZmqCounters counters;
};

}  // namespace starling
