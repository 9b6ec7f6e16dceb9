// SPDX-License-Identifier: Apache-2.0
#include <cctype>

#include "launch/gateway/gateway_routes.h"

namespace starling {
namespace {

using Json = nlohmann::json;

std::string status_text(unsigned status) { return std::to_string(status); }

Json content_of(const std::string& type, const Json& schema) {
  return {{type, {{"schema", schema}}}};
}

Json reference(const std::string& name) { return {{"$ref", "#/components/schemas/" + name}}; }

Json answers_json(const GatewayRoute& route) {
  Json answers = Json::object();
  for (const auto& [status, text] : answers_of(route)) {
    Json answer{{"description", text}};
    const bool good = status < 300;
    const Json schema = route.answer.empty() ? Json{{"type", "string"}} : reference(route.answer);
    // What is not ready is said in words there, as probes are read by people.
    const bool words = route.id == "ready" && status == 503;
    answer["content"] = good || words ? content_of(route.type, schema)
                                      : content_of("application/json", reference("Problem"));
    if (good && route.id == "metrics")
      answer["content"].update(content_of("text/plain; version=0.0.4; charset=utf-8", schema));
    answers[status_text(status)] = answer;
  }
  return answers;
}

Json operation(const GatewayRoute& route) {
  Json parameters = Json::array();
  for (const RouteParameter& p : route.parameters) {
    parameters.push_back({{"name", p.name},
                          {"in", p.in_path ? "path" : "query"},
                          {"required", p.in_path},
                          {"description", p.help},
                          {"schema", p.schema}});
  }
  Json json{{"operationId", route.id},
            {"summary", route.summary},
            {"x-role", name_of(route.role)},
            {"parameters", parameters},
            {"responses", answers_json(route)}};
  if (!route.body.empty()) {
    json["requestBody"] = {{"required", true},
                           {"content", content_of("application/json", reference(route.body))}};
  }
  if (route.role != CallerRole::anonymous) json["security"] = {{{"token", Json::array()}}};
  return json;
}

}  // namespace

std::map<unsigned, std::string> answers_of(const GatewayRoute& route) {
  std::map<unsigned, std::string> answers{
      {200, "done"},
      {400, "a parameter or the body is wrong, and how"},
      {429, "too many requests; Retry-After says how long to wait"}};
  if (route.role != CallerRole::anonymous) {
    answers[401] = "no token, or one that does not hold any more";
    answers[503] = "the flock does not answer, or the gateway has too much to do; ask again";
  }
  if (route.role > CallerRole::viewer) answers[403] = "the caller may not";
  if (!route.body.empty()) {
    answers[413] = "the body is too large";
    answers[415] = "the body is no JSON";
  }
  for (const auto& [status, text] : route.others) answers[status] = text;
  return answers;
}

Json make_openapi() {
  Json paths = Json::object();
  for (const GatewayRoute& route : gateway_routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    paths[route.path][method] = operation(route);
  }
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "Starling"},
            {"version", "1"},
            {"description",
             "A flock of scheduling agents over HTTP. Within version 1 routes, fields and kinds of "
             "events are added, and none changes its meaning."}}},
          {"paths", paths},
          {"components",
           {{"schemas", gateway_schemas()},
            {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

const std::string& openapi_document() {
  static const std::string text = make_openapi().dump(1) + "\n";
  return text;
}

}  // namespace starling
