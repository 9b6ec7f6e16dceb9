// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/gateway_routes.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "launch/gateway/json_schema.h"

namespace starling {
namespace {

using Json = nlohmann::json;

unsigned status_of(const std::string& method, const std::string& target,
                   const std::string& body = "", const std::string& type = "application/json") {
  HttpRequest request;
  request.method = method;
  request.target = target;
  request.body = body;
  request.content_type = type;
  const auto parsed = parse_target(target);
  if (!parsed) return 400;
  const auto found = find_route(method, parsed->path);
  if (const auto* wrong = std::get_if<HttpAnswer>(&found)) return wrong->status;
  const auto call = checked_call(std::get<FoundRoute>(found), *parsed, request);
  const auto* wrong = std::get_if<HttpAnswer>(&call);
  return wrong == nullptr ? 200 : wrong->status;
}

TEST_CASE("paths and queries are taken apart, or refused") {
  const auto target = parse_target("/v1/jobs/a%2Fb?name=x+y%20z&since=2h&&empty=");
  REQUIRE(target);
  CHECK(target->path == std::vector<std::string>{"v1", "jobs", "a/b"});
  CHECK(target->query.at("name") == "x y z");
  CHECK(target->query.at("empty").empty());
  CHECK(parse_target("/")->path.empty());
  CHECK(parse_target("/v1/")->path.size() == 2);
  for (const char* wrong : {"", "v1", "*", "/%", "/%4", "/%zz", "/%00", "/%ff", "/%c0%80",
                            "/%ed%a0%80", "/x?a=1&a=2", "/x?a=%ff", "http://host/x"})
    CHECK_FALSE(parse_target(wrong));
}

TEST_CASE("what there is, and what there is not") {
  CHECK(status_of("GET", "/") == 200);
  CHECK(status_of("HEAD", "/healthz") == 200);
  CHECK(status_of("GET", "/v1/jobs") == 200);
  CHECK(status_of("GET", "/v1/jobs/") == 404);
  CHECK(status_of("GET", "/v1/jobs//explain") == 404);
  CHECK(status_of("GET", "//v1/jobs") == 404);
  CHECK(status_of("GET", "/v1/jobs/12ab/explain") == 200);
  CHECK(status_of("GET", "/v1/jobs/../agents") == 404);
  CHECK(status_of("GET", "/v2/jobs") == 404);
  const auto found = find_route("PATCH", {"v1", "jobs", "12"});
  const auto* answer = std::get_if<HttpAnswer>(&found);
  REQUIRE(answer != nullptr);
  CHECK(answer->status == 405);
  CHECK(answer->headers.front() ==
        std::pair<std::string, std::string>{"Allow", "GET, PUT, DELETE, HEAD"});
}

TEST_CASE("parameters are as their schemas say") {
  CHECK(status_of("GET", "/v1/jobs?limit=1000&state=open&user=me&since=2h&after=12ab") == 200);
  for (const char* query : {"limit=0", "limit=1001", "limit=-1", "limit=1e2", "limit=", "limit=1.5",
                            "limit=99999999999999999999", "user=", "after=xyz", "nonsense=1"})
    CHECK_MESSAGE(status_of("GET", std::string("/v1/jobs?") + query) == 400, query);
  CHECK(status_of("GET", "/v1/jobs/" + std::string(33, 'a')) == 400);
  CHECK(status_of("GET", "/v1/jobs/12g") == 400);
  CHECK(status_of("GET", "/v1/jobs/12/logs?follow=true&rank=3&tail=1") == 200);
  CHECK(status_of("GET", "/v1/jobs/12/logs?follow=yes") == 400);
  CHECK(status_of("DELETE", "/v1/jobs/12", "x") == 400);
}

TEST_CASE("bodies are JSON, bounded, and as their schema says; the message names the place") {
  const auto put = [](const std::string& body, const std::string& type = "application/json") {
    return status_of("PUT", "/v1/jobs/12ab", body, type);
  };
  CHECK(put(R"({"command": ["python", "x.py"], "workers": 2, "environment": {"A": "b"}})") == 200);
  CHECK(put(R"({"command": "true", "directory": "/tmp"})") == 200);
  CHECK(put(R"({"duration_s": 5, "workers": 2.0})") == 200);
  CHECK(put("{}", "text/plain") == 415);
  for (const char* wrong : {"",
                            "null",
                            "[]",
                            "3",
                            "{",
                            "{}{}",
                            R"({"workers": "2"})",
                            R"({"workers": 0})",
                            R"({"workers": 1.5})",
                            R"({"workers": 1e300})",
                            R"({"wokers": 1})",
                            R"({"user": "root"})",
                            R"({"command": [1]})",
                            R"({"command": []})",
                            R"({"environment": {"A": 1}})",
                            R"({"directory": "relative"})",
                            R"({"duration_s": 0})",
                            R"({"duration_s": NaN})",
                            R"({"workers": 1, "workers": 2})",
                            R"({"gpu_types": "V100"})",
                            "\xff\xfe{}",
                            R"({"name": "\ud800"})"})
    CHECK_MESSAGE(put(wrong) == 400, wrong);
  CHECK(put(std::string(100'000, '[')) == 400);
  std::string deep;
  for (int i = 0; i < 50'000; ++i) deep += R"({"a":)";
  CHECK(put(deep) == 400);

  const auto wrong =
      against_schema(Json::parse(R"({"wokers": 1})"), gateway_schemas().at("JobRequest"),
                     gateway_schemas(), "the body");
  REQUIRE(wrong);
  CHECK(wrong->find("did you mean 'workers'?") != std::string::npos);
}

TEST_CASE("queues are those of a file of queues") {
  const auto put = [](const std::string& body) { return status_of("PUT", "/v1/queues", body); };
  CHECK(status_of("GET", "/v1/queues") == 200);
  CHECK(put(R"({"default": "a/b", "queues": [{"name": "a", "most": 4, "users": ["ann"],
                "queues": [{"name": "b", "most_per_user": 1}]}]})") == 200);
  CHECK(put(R"({"queues": []})") == 200);
  for (const char* wrong :
       {"{}", "[]", R"({"queues": {}})", R"({"queues": [{}]})", R"({"queues": [{"name": ""}]})",
        R"({"queues": [{"name": "a", "most": -1}]})", R"({"queues": [{"name": "a", "most": "4"}]})",
        R"({"queues": [{"name": "a", "mots": 4}]})", R"({"queues": [], "version": 3})",
        R"({"queues": [{"name": "a", "queues": [{"name": "b", "weight": 0}]}]})"})
    CHECK_MESSAGE(put(wrong) == 400, wrong);
}

TEST_CASE("the description has every route, and every schema that it names") {
  const Json api = make_openapi();
  std::set<std::string> ids;
  for (const GatewayRoute& route : gateway_routes()) {
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    REQUIRE(api["paths"][route.path].contains(method));
    const Json& said = api["paths"][route.path][method];
    CHECK(said["responses"].contains("200"));
    CHECK(said.contains("requestBody") == !route.body.empty());
    CHECK(said.contains("security") == (route.role != CallerRole::anonymous));
    CHECK(ids.insert(route.id).second);
    CHECK((route.handler != nullptr));
  }
  const std::string text = openapi_document();
  const std::string mark = "#/components/schemas/";
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t from = at + mark.size();
    const std::string name = text.substr(from, text.find('"', from) - from);
    CHECK_MESSAGE(gateway_schemas().contains(name), name);
  }
}

TEST_CASE("only operators drain and change members; only users submit and cancel") {
  for (const GatewayRoute& route : gateway_routes()) {
    if (route.method == "GET") {
      CHECK(route.role <= CallerRole::viewer);
    } else {
      const bool jobs = route.path.starts_with("/v1/jobs");
      CHECK(route.role == (jobs ? CallerRole::user : CallerRole::operator_));
    }
  }
}

}  // namespace
}  // namespace starling
