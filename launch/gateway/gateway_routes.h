// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "launch/gateway/caller.h"
#include "launch/gateway/http/http.h"

namespace starling {

class GatewayFlock;

/// A request that has passed all that its route declares.
struct GatewayCall {
  Caller caller;
  std::map<std::string, nlohmann::json>
      parameters;       ///< of path and query, each as its schema wants
  nlohmann::json body;  ///< null where the route takes none
  std::string accept, last_event_id;

  [[nodiscard]] bool has(const std::string& name) const { return parameters.contains(name); }
  [[nodiscard]] std::string text(const std::string& name) const;
  [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t otherwise) const;
  [[nodiscard]] bool flag(const std::string& name) const;
};

struct RouteParameter {
  std::string name;
  nlohmann::json schema;
  std::string help;
  bool in_path = false;
};

/// One thing that can be asked of the gateway: what it is told by, which role may, what goes in and
/// what comes out. The router, the checks and the description are all made of it.
struct GatewayRoute {
  using Handler = void (*)(GatewayFlock& flock, const GatewayCall& call, const HttpReply& reply);

  std::string method, path;  ///< "/v1/jobs/{job}"
  std::string id, summary;
  CallerRole role = CallerRole::viewer;
  std::vector<RouteParameter> parameters = {};
  std::string body = {};    ///< name of its schema; empty: it takes none
  std::string answer = {};  ///< name of the schema of a 200; empty: `type` is no JSON
  std::string type = "application/json";
  /// What else it answers, besides 200 and what every route of its kind does.
  std::vector<std::pair<unsigned, std::string>> others = {};
  Handler handler = nullptr;
};

/// All of them, in the order of the description.
[[nodiscard]] const std::vector<GatewayRoute>& gateway_routes();
/// By name: every schema that a route or another schema names.
[[nodiscard]] const nlohmann::json& gateway_schemas();
/// The description, OpenAPI 3.1, made of the two above.
[[nodiscard]] const std::string& openapi_document();
/// The same as JSON.
[[nodiscard]] nlohmann::json make_openapi();
/// What a route answers, by status, with what each means.
[[nodiscard]] std::map<unsigned, std::string> answers_of(const GatewayRoute& route);

/// Which route a request means.
struct FoundRoute {
  const GatewayRoute* route = nullptr;
  std::vector<std::string> pieces;  ///< for the parameters in the path, in their order
};
/// Nothing found: the answer to that, 404 or 405.
[[nodiscard]] std::variant<FoundRoute, HttpAnswer> find_route(const std::string& method,
                                                              const std::vector<std::string>& path);
/// Checks parameters and body against what the route declares. The error names what is wrong.
[[nodiscard]] std::variant<GatewayCall, HttpAnswer> checked_call(const FoundRoute& found,
                                                                 const HttpTarget& target,
                                                                 const HttpRequest& request);

}  // namespace starling
