#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <zmq.hpp>

namespace starling {

constexpr const char* kZapDomain = "starling";

/// Answers libzmq's question whether a public key may connect, and as whom. Its thread shares
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
  std::thread thread_;
};

/// Connects to `address` with a key that nobody knows, and says whether it was refused as it must
/// be. An endpoint that lets a stranger in must not serve.
[[nodiscard]] bool refuses_strangers(zmq::context_t& context, const std::string& address,
                                     const std::string& server_key);

}  // namespace starling
