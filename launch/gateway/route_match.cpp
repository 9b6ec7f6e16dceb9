// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "launch/gateway/gateway_routes.h"
#include "launch/gateway/http/utf8.h"
#include "launch/gateway/json_schema.h"
#include "launch/jobs/split.h"
#include "launch/system/text.h"

namespace starling {
namespace {

/// "/v1/jobs/{job}" as "v1", "jobs", "{job}".
std::vector<std::string> pieces_of(const std::string& path) {
  return path == "/" ? std::vector<std::string>{} : split(path.substr(1), '/');
}

bool is_parameter(const std::string& piece) { return piece.starts_with("{"); }

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return std::equal(pattern.begin(), pattern.end(), path.begin(), path.end(),
                    [](const std::string& a, const std::string& b) {
                      return is_parameter(a) ? !b.empty() : a == b;
                    });
}

constexpr int kDeepest = 16;

/// Its body, or what is wrong with it. A parser's callback ends what nests deeply or names a key
/// twice before it costs anything.
std::variant<nlohmann::json, HttpAnswer> parsed_body(const HttpRequest& request) {
  if (request.content_type != "application/json") {
    return http_error(415, "media_type", "the body has to be JSON: Content-Type: application/json");
  }
  if (!is_utf8(request.body)) return http_error(400, "invalid", "the body is no UTF-8");
  std::vector<std::set<std::string>> keys;
  std::string trouble;
  const auto look = [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    if (depth > kDeepest) trouble = "it nests more than " + std::to_string(kDeepest) + " deep";
    if (event == Event::object_start) keys.emplace_back();
    if (event == Event::object_end && !keys.empty()) keys.pop_back();
    if (event == Event::key && !keys.empty() &&
        !keys.back().insert(parsed.get<std::string>()).second)
      trouble = "it has '" + parsed.get<std::string>().substr(0, 64) + "' twice";
    return trouble.empty();
  };
  nlohmann::json body;
  try {
    body = nlohmann::json::parse(request.body, look);
  } catch (const nlohmann::json::exception& error) {
    return http_error(400, "invalid", std::string("the body is no JSON: ") + error.what());
  }
  if (!trouble.empty()) return http_error(400, "invalid", "the body: " + trouble);
  return body;
}

}  // namespace

std::string GatewayCall::text(const std::string& name) const {
  const auto at = parameters.find(name);
  if (at == parameters.end()) return {};
  return at->second.is_string() ? at->second.get<std::string>() : at->second.dump();
}

std::uint64_t GatewayCall::number(const std::string& name, std::uint64_t otherwise) const {
  const auto at = parameters.find(name);
  return at == parameters.end() ? otherwise : at->second.get<std::uint64_t>();
}

bool GatewayCall::flag(const std::string& name) const {
  const auto at = parameters.find(name);
  return at != parameters.end() && at->second.get<bool>();
}

std::variant<FoundRoute, HttpAnswer> find_route(const std::string& method,
                                                const std::vector<std::string>& path) {
  // What answers GET answers HEAD, without the body.
  const std::string wanted = method == "HEAD" ? "GET" : method;
  std::vector<std::string> allowed;
  for (const GatewayRoute& route : gateway_routes()) {
    const auto pattern = pieces_of(route.path);
    if (!fits(pattern, path)) continue;
    if (route.method != wanted) {
      allowed.push_back(route.method);
      continue;
    }
    FoundRoute found{&route, {}};
    for (std::size_t i = 0; i < pattern.size(); ++i)
      if (is_parameter(pattern[i])) found.pieces.push_back(path[i]);
    return found;
  }
  if (allowed.empty())
    return http_error(404, "not_found",
                      "there is nothing here; /v1/openapi.json says what there is");
  HttpAnswer answer = http_error(405, "method", "here it is " + joined(allowed, " or "));
  if (std::find(allowed.begin(), allowed.end(), "GET") != allowed.end())
    allowed.emplace_back("HEAD");
  answer.headers.emplace_back("Allow", joined(allowed, ", "));
  return answer;
}

std::variant<GatewayCall, HttpAnswer> checked_call(const FoundRoute& found,
                                                   const HttpTarget& target,
                                                   const HttpRequest& request) {
  const GatewayRoute& route = *found.route;
  GatewayCall call;
  std::size_t piece = 0;
  std::vector<std::string> names;
  for (const RouteParameter& parameter : route.parameters) {
    std::string text;
    if (parameter.in_path) {
      text = found.pieces[piece++];
    } else {
      names.push_back(parameter.name);
      const auto at = target.query.find(parameter.name);
      if (at == target.query.end()) continue;
      text = at->second;
    }
    nlohmann::json value = parameter_value(text, parameter.schema);
    if (const auto wrong =
            against_schema(value, parameter.schema, gateway_schemas(), parameter.name))
      return http_error(400, "invalid", *wrong);
    call.parameters[parameter.name] = std::move(value);
  }
  for (const auto& [name, ignored] : target.query) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    return http_error(400, "invalid",
                      "'" + name.substr(0, 64) + "' is no parameter here; there are " +
                          (names.empty() ? "none" : joined(names, ", ")));
  }
  if (!route.body.empty()) {
    auto body = parsed_body(request);
    if (auto* wrong = std::get_if<HttpAnswer>(&body)) return std::move(*wrong);
    call.body = std::get<nlohmann::json>(std::move(body));
    if (const auto wrong = against_schema(call.body, gateway_schemas().at(route.body),
                                          gateway_schemas(), "the body"))
      return http_error(400, "invalid", *wrong);
  } else if (!request.body.empty()) {
    return http_error(400, "invalid", "a body is not expected here");
  }
  call.accept = request.accept;
  call.last_event_id = request.last_event_id;
  return call;
}

}  // namespace starling
