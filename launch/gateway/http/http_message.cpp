// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/lower_case.h"
#include "launch/gateway/http/http_connection.h"

namespace starling {
namespace {

std::string text_of(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// Without parameters as "; charset=utf-8".
std::string media_type(const std::string& text) {
  std::string type = text.substr(0, text.find(';'));
  while (!type.empty() && type.back() == ' ') type.pop_back();
  return lower_case(type);
}

std::optional<std::string> bearer_of(const std::string& text) {
  constexpr std::string_view kScheme = "bearer ";
  if (text.size() <= kScheme.size() || lower_case(text.substr(0, kScheme.size())) != kScheme)
    return std::nullopt;
  return text.substr(kScheme.size());
}

}  // namespace

HttpRequest request_of(const beast_http::request<beast_http::string_body>& message,
                       const HttpPeer& peer) {
  HttpRequest request;
  request.method = text_of(message.method_string());
  request.target = text_of(message.target());
  request.body = message.body();
  request.content_type = media_type(text_of(message[beast_http::field::content_type]));
  request.accept = text_of(message[beast_http::field::accept]);
  request.last_event_id = text_of(message["Last-Event-ID"]);
  request.bearer = bearer_of(text_of(message[beast_http::field::authorization]));
  request.address = peer.address;
  request.uid = peer.uid;
  return request;
}

void set_heading(beast_http::fields& fields, const HttpAnswer& answer) {
  fields.set(beast_http::field::content_type, answer.type);
  // What is said is of now, and the page is to load nothing from elsewhere nor be framed.
  fields.set(beast_http::field::cache_control, "no-store");
  fields.set("X-Content-Type-Options", "nosniff");
  fields.set("Content-Security-Policy",
             "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
             "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  fields.set("Referrer-Policy", "no-referrer");
  for (const auto& [name, value] : answer.headers) fields.set(name, value);
}

bool ends_plainly(const beast_http::fields& heading) {
  const std::size_t said = heading.count(beast_http::field::transfer_encoding);
  return said == 0 || (said == 1 && boost::beast::iequals(
                                        heading[beast_http::field::transfer_encoding], "chunked"));
}

bool has_hung_up(int socket) {
  // Not by reading: what a TLS peer says before it goes is still to be read then.
  pollfd look{socket, POLLRDHUP, 0};
  return ::poll(&look, 1, 0) > 0;
}

std::optional<HttpAnswer> answer_to_broken(boost::system::error_code error) {
  if (error == beast_http::error::body_limit)
    return http_error(413, "too_large", "the body is too large");
  if (error == beast_http::error::header_limit || error == beast_http::error::buffer_overflow)
    return http_error(431, "too_large", "the heading is too large");
  if (error.category() == make_error_code(beast_http::error::bad_method).category() &&
      error != beast_http::error::end_of_stream && error != beast_http::error::partial_message)
    return http_error(400, "invalid", "this is no HTTP: " + error.message());
  return std::nullopt;
}

}  // namespace starling
