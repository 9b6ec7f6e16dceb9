// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "launch/gateway/gateway_flock.h"
#include "launch/gateway/http/http.h"
#include "launch/gateway/http/http_server.h"
#include "launch/gateway/rate_limit.h"
#include "launch/gateway/token_book.h"

namespace starling {

struct GatewayOptions {
  std::filesystem::path flock;  ///< its directory
  HttpPlaces places;
  std::filesystem::path tokens;  ///< their file
  double rate = 50;              ///< requests a second of each caller
  double burst = 200;            ///< and so many at once
  HttpBounds bounds;
  GatewayLimits limits;
};

/// Where a flock's tokens are, if nothing else is said.
[[nodiscard]] std::filesystem::path default_tokens(const std::filesystem::path& flock);

/// Where a request comes from, by its token or, on a Unix socket, by the system's word: the user
/// who runs the gateway and root are operators there, everybody else is a user. The file of tokens
/// is read again when it has changed; one that cannot be read lets no caller in until it can.
class GatewayDoor {
 public:
  explicit GatewayDoor(std::filesystem::path tokens) : tokens_(std::move(tokens)) {}
  /// `invalid`: the file as it is now.
  [[nodiscard]] Status look();
  /// Nothing: it shows a token that does not hold.
  [[nodiscard]] std::optional<Caller> caller(const HttpRequest& request, Date now) const;
  /// How often the file was found to be another one.
  [[nodiscard]] std::uint64_t changes() const noexcept { return changes_; }

 private:
  const std::filesystem::path tokens_;
  std::string stamp_;
  TokenBook book_;
  std::uint64_t changes_ = 0;
};

/// All that happens to a request between the server and its handler: whose it is, how often it may
/// ask, which route it means, what that declares. One thread.
class Gateway {
 public:
  Gateway(GatewayFlock& flock, GatewayDoor& door, double rate, double burst)
      : flock_(flock), door_(door), known_(rate, burst), strangers_(rate, burst) {}

  void handle(const HttpRequest& request, const HttpReply& reply);
  /// Ends the answers that go on of callers whose token does not hold any more. To be called often.
  void end_streams(Date now);

 private:
  /// An answer that goes on.
  struct Going {
    HttpRequest who;  // as far as that says who it is
    Date until;
    std::weak_ptr<ByteStream> stream;
  };
  [[nodiscard]] std::optional<HttpAnswer> too_often(RateLimit& limit, const std::string& who);
  [[nodiscard]] HttpReply watched(const HttpRequest& request, const HttpReply& reply);

  GatewayFlock& flock_;
  GatewayDoor& door_;
  RateLimit known_, strangers_;
  std::vector<Going> going_;
  std::uint64_t changes_ = 0;  // of the door, that have been looked at
};

/// Serves until a stop is requested. `said` gets a line once it listens: where. Errors as the
/// server's and the tokens'.
[[nodiscard]] Status run_gateway(const GatewayOptions& options,
                                 const std::function<void(const std::string&)>& said);

}  // namespace starling
