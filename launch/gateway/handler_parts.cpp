// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/handler_parts.h"

namespace starling {

HttpAnswer json_answer(const nlohmann::json& json, unsigned status) {
  return {status, "application/json",
          json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n"};
}

HttpAnswer flock_error(const Error& error) {
  switch (error.code) {
    case Errc::not_found:
      return http_error(404, "not_found", error.message);
    case Errc::conflict:
    case Errc::fenced:
    case Errc::expired:
      return http_error(409, "conflict", error.message);
    case Errc::invalid:
      return http_error(422, "refused", error.message);
    case Errc::unsupported:
      return http_error(409, "unsupported", error.message);
    case Errc::busy:
    case Errc::not_ready:
    case Errc::io:
      break;
  }
  HttpAnswer answer = http_error(503, "not_ready", error.message);
  answer.headers.emplace_back("Retry-After", "1");
  return answer;
}

HttpAnswer too_busy() {
  return flock_error({Errc::busy, "the gateway has too much to do; ask again"});
}

HttpAnswer nothing_read(const GatewayFlock& flock) {
  return flock_error({Errc::not_ready, flock.not_ready()});
}

}  // namespace starling
