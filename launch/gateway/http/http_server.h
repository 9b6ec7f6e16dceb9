// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "launch/gateway/http/http.h"

namespace starling {

/// What one caller may cost.
struct HttpBounds {
  std::uint32_t header_bytes = 16 * 1024;
  std::uint64_t body_bytes = 256 * 1024;
  std::size_t connections = 8192;
  std::chrono::seconds to_send{15};  ///< a whole request, from its first byte; a piece of an answer
  std::chrono::seconds idle{120};    ///< between two requests
};

struct HttpPlaces {
  std::string listen;            ///< HOST:PORT; empty: nowhere. Port 0: any that is free
  std::string socket;            ///< path of a Unix socket; empty: none
  std::string certificate, key;  ///< PEM files; empty: without TLS
};

/// HTTP/1.1 over TCP, with TLS or without, and over a Unix socket, in one thread: that which calls
/// run(). Boost.Beast reads and writes; a connection waits in a coroutine and so costs no thread.
class HttpServer {
 public:
  /// Gets each request, in that thread, and replies from any. `server` says so.
  using Handle = std::function<void(HttpRequest, HttpReply)>;

  HttpServer(const HttpBounds& bounds, Handle handle);
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  /// `invalid`: the address, the certificate or the key; `io`: the system refused.
  [[nodiscard]] Status listen(const HttpPlaces& places);
  /// The port that it listens at.
  [[nodiscard]] std::uint16_t port() const noexcept;
  /// Done by the server's thread, soon; any thread may ask.
  void later(std::function<void()> what);
  /// Serves until stop_requested(); `tick` is called ten times a second.
  void run(const std::function<void()>& tick);
  [[nodiscard]] std::size_t connections() const noexcept;
  [[nodiscard]] std::uint64_t refused() const noexcept;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// HOST:PORT, [V6]:PORT.
struct HostPort {
  std::string host;
  std::uint16_t port = 0;
};
[[nodiscard]] Result<HostPort> parse_listen(const std::string& text);
/// Can only this machine reach it?
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace starling
