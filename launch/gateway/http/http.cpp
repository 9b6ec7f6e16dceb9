// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/http/http.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "launch/gateway/http/utf8.h"

namespace starling {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::optional<std::string> decoded(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_space && text[i] == '+' ? ' ' : text[i];
    }
  }
  if (out.find('\0') != std::string::npos || !is_utf8(out)) return std::nullopt;
  return out;
}

}  // namespace

std::optional<HttpTarget> parse_target(const std::string& target) {
  if (target.empty() || target.front() != '/') return std::nullopt;
  const std::size_t mark = target.find('?');
  std::string_view path =
      std::string_view(target).substr(1, mark == std::string::npos ? mark : mark - 1);
  HttpTarget found;
  while (!path.empty()) {
    const std::size_t end = std::min(path.find('/'), path.size());
    auto piece = decoded(path.substr(0, end), false);
    if (!piece) return std::nullopt;
    found.path.push_back(*std::move(piece));
    path.remove_prefix(end);
    if (path.empty()) break;
    path.remove_prefix(1);
    if (path.empty()) found.path.emplace_back();  // "/v1/" is not "/v1"
  }
  if (mark == std::string::npos) return found;
  std::string_view query = std::string_view(target).substr(mark + 1);
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = decoded(pair.substr(0, equals), true);
    auto value = decoded(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value || !found.query.emplace(*name, *value).second) return std::nullopt;
  }
  return found;
}

HttpAnswer http_error(unsigned status, const std::string& code, const std::string& message) {
  const nlohmann::json body{{"status", status}, {"code", code}, {"message", message}};
  HttpAnswer answer{status, "application/json",
                    body.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n"};
  if (status == 401) answer.headers.emplace_back("WWW-Authenticate", "Bearer");
  return answer;
}

}  // namespace starling
