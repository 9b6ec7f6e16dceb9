// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <zmq.hpp>

namespace starling {

constexpr const char* kZapDomain = "starling";

/// Answers libzmq's question whether a public key may connect, and as which node. Its thread shares
/// nothing with others but sockets, two counters and the list.
class ZapHandler {
 public:
  /// `allowed`: raw public keys of 32 bytes, and the user id that each is told to the sockets as.
  /// Bound when it returns; must come before any bind of a server. Throws zmq::error_t if the
  /// context has a handler already.
  ZapHandler(zmq::context_t& context, std::map<std::string, std::string> allowed);
  /// The context must have been shut down: that is what ends the thread.
  ~ZapHandler();
  /// From here on this list counts, for new connections.
  void allow(std::map<std::string, std::string> allowed);
  ZapHandler(const ZapHandler&) = delete;
  ZapHandler& operator=(const ZapHandler&) = delete;

  [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.load(); }
  [[nodiscard]] std::uint64_t refused() const noexcept { return refused_.load(); }

 private:
  void serve();
  void answer();

  std::mutex mutex_;  // of the list
  std::map<std::string, std::string> allowed_;
  zmq::socket_t socket_;
  std::atomic<std::uint64_t> accepted_{0};
  std::atomic<std::uint64_t> refused_{0};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

enum class StrangerTest : std::uint8_t {
  refused,   ///< as it must be
  let_in,    ///< or could not be asked: such an endpoint must not serve
  no_answer  ///< nothing is known
};
/// Connects to `address` with a key that is not known. Waits until there is an answer, for
/// `patience` at most: a handshake takes a millisecond, and many seconds on a machine that starves.
/// Throws zmq::error_t, also where a signal interrupts it: then it may be tried again.
[[nodiscard]] StrangerTest try_as_stranger(
    zmq::context_t& context, const std::string& address, const std::string& server_key,
    std::chrono::milliseconds patience = std::chrono::seconds(20));

}  // namespace starling
