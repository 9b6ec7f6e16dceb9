// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launch/gateway/http/byte_stream.h"

namespace starling {

/// A request as it came in, within the bounds of HttpBounds; nothing of it is believed yet.
struct HttpRequest {
  std::string method;
  std::string target;  ///< path and query, as they were sent
  std::string body;
  std::string content_type, accept, last_event_id;
  std::optional<std::string> bearer;  ///< of `Authorization: Bearer ...`
  std::string address;                ///< of the peer, without a port
  std::optional<uid_t> uid;           ///< of the peer, where it came over a Unix socket
};

struct HttpAnswer {
  unsigned status = 200;
  std::string type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::shared_ptr<ByteStream> stream = {};  ///< instead of `body`: goes on until it is closed
};

/// Called once, by any thread.
using HttpReply = std::function<void(HttpAnswer)>;

/// A request's path, percent-decoded piece by piece, and its query.
struct HttpTarget {
  std::vector<std::string> path;             ///< "/v1/jobs" is {"v1", "jobs"}; "/" is {}
  std::map<std::string, std::string> query;  ///< each name once
};
/// Nothing: it is not well formed, names a thing twice, or has bytes that are no UTF-8 or NUL.
[[nodiscard]] std::optional<HttpTarget> parse_target(const std::string& target);

/// An error as every route answers it: {"status", "code", "message"}.
[[nodiscard]] HttpAnswer http_error(unsigned status, const std::string& code,
                                    const std::string& message);

}  // namespace starling
