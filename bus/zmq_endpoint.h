// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/limits.h"
#include "base/result.h"
#include "base/time.h"
#include "bus/flock.h"
#include "bus/keys.h"
#include "bus/wire/endpoint.h"

namespace starling {

struct ZmqOptions {
  NodeId me;  ///< a member of the flock, or a session of one that calls (bus/sessions.h)
  std::string
      bind;  ///< where to listen; empty: the seat's own address. Port * lets the system choose.
  std::optional<KeyPair>
      keys;  ///< without them: loopback and ipc:// only, and peers are what they say they are
  Limits limits;
  std::uint32_t seat = 0;  ///< which of the member's seats this is
};

struct ZmqCounters {
  std::uint64_t frames_in = 0;
  std::uint64_t frames_out = 0;
  std::uint64_t dropped = 0;   ///< not sent: unknown peer, not connected, queue full (in frames or
                               ///< bytes, bus/outbox.h), too large
  std::uint64_t unheard = 0;   ///< of callers that have answers waiting and do not read them
  std::uint64_t nameless = 0;  ///< received from no node we know, or in more than one part
  std::uint64_t keys_accepted = 0;   ///< connections that the allow-list let in
  std::uint64_t keys_refused = 0;    ///< and kept out
  std::uint64_t short_of_files = 0;  ///< of dropped: no file descriptor to connect with
};

/// The bus of real processes: one socket to receive, one per peer to send, so each direction fails
/// alone. With keys every connection is encrypted and both ends are proven to be members of the
/// flock. A frame for a peer that is not connected is dropped, never kept: peers that return get no
/// stale news. A caller that does not read what waits for it is not heard either, until it does.
/// One thread.
class ZmqEndpoint final : public Endpoint {
 public:
  /// Listens when it returns. With keys it has also connected to itself as a stranger and been
  /// refused. `invalid`: flock, address or keys are unfit; `io`: the address cannot be bound, or
  /// too few file descriptors are left, which may pass; `unsupported`: libzmq lacks CURVE.
  [[nodiscard]] static Result<std::unique_ptr<ZmqEndpoint>> open(const ZmqOptions& options,
                                                                 Flock flock, const Clock& clock);
  ~ZmqEndpoint() override;

  /// To the seat where `to` was found; to all of its seats before that, and from callers, which
  /// never learn it: only one of them is alive, and all peers answer repeats alike.
  bool send(NodeId to, std::span<const std::byte> frame) override;
  void found_at(NodeId node, std::uint32_t seat) override;
  /// May return early without a frame: after a second, on a signal, or when a watched descriptor is
  /// readable.
  std::optional<Delivery> receive(Instant deadline) override;

  /// Also wakes receive(); the caller reads it empty.
  void watch(int fd);
  /// Where it listens, with the port that the system chose. Empty for a caller.
  [[nodiscard]] const std::string& address() const noexcept;
  /// Seat 0 of `node` is to be found at another address from now on.
  void moved(NodeId node, std::string address);
  /// From here on the flock is this one, and these are this node's keys: a node that is no longer
  /// in it is heard no more, also over connections that are there; what has another key or address
  /// is connected to anew; with other keys of its own it listens anew. What is on its way meanwhile
  /// may be lost. On an error it stays as it was, unless its address is taken: then it listens
  /// nowhere.
  [[nodiscard]] Status renew(Flock flock, const std::optional<KeyPair>& keys);
  /// Closes the connections to `node` and forgets what waits for it; the next send opens a new one.
  void drop(NodeId node);
  [[nodiscard]] ZmqCounters counters() const noexcept;

 private:
  struct Sockets;
  explicit ZmqEndpoint(std::unique_ptr<Sockets> sockets);
  std::unique_ptr<Sockets> sockets_;
};

}  // namespace starling
