// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_client.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "store/etcd/base64.h"
#include "store/etcd/etcd_login.h"
#include "store/etcd/http_connection.h"
#include "store/etcd/tls.h"

namespace starling {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds kPause{50};  // between rounds in which no member could answer

// The gateway writes 64-bit numbers as strings, and leaves out what is zero.
std::int64_t whole(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return 0;
  return found->is_string() ? std::stoll(found->get<std::string>()) : found->get<std::int64_t>();
}

std::string bytes(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end()) return {};
  auto decoded = from_base64(found->get<std::string>());
  if (!decoded) throw std::invalid_argument(std::string(name) + " is not base64");
  return std::move(*decoded);
}

std::vector<EtcdEntry> entries(const json& range) {
  std::vector<EtcdEntry> all;
  if (const auto kvs = range.find("kvs"); kvs != range.end()) {
    for (const json& kv : *kvs) {
      all.push_back(
          {bytes(kv, "key"), bytes(kv, "value"), whole(kv, "mod_revision"), whole(kv, "lease")});
    }
  }
  return all;
}

json to_json(const EtcdCompare& c) {
  json j{{"key", to_base64(c.key)}, {"result", "EQUAL"}};
  if (c.by_value) {
    j["target"] = "VALUE";
    j["value"] = to_base64(c.value);
  } else {
    j["target"] = "MOD";
    j["mod_revision"] = std::to_string(c.revision);
  }
  return j;
}

json to_json(const EtcdOp& op) {
  json j{{"key", to_base64(op.key)}};
  if (!op.end.empty()) j["range_end"] = to_base64(op.end);
  switch (op.kind) {
    case EtcdOp::Kind::put:
      j["value"] = to_base64(op.value);
      if (op.lease != 0) j["lease"] = std::to_string(op.lease);
      return {{"request_put", std::move(j)}};
    case EtcdOp::Kind::get:
      return {{"request_range", std::move(j)}};
    case EtcdOp::Kind::erase:
      break;
  }
  return {{"request_delete_range", std::move(j)}};
}

json to_json(const std::vector<EtcdOp>& ops) {
  json list = json::array();
  for (const EtcdOp& op : ops) list.push_back(to_json(op));
  return list;
}

// gRPC's codes, as far as they say that asking another member is of no use.
std::optional<Errc> hopeless(const EtcdRefusal& refused) {
  if (refused.about_access()) return Errc::io;
  switch (refused.code) {
    case 3:   // invalid argument
    case 12:  // unimplemented
      return Errc::invalid;
    case 5:
      return Errc::not_found;
    case 8:  // resource exhausted
      return Errc::busy;
    case 11:  // out of range: compacted
      return Errc::expired;
    default:
      return std::nullopt;
  }
}

/// What `read` makes of an answer, or `io` if it is not one that etcd gives.
template <class T, class Read>
Result<T> understood(const Result<json>& answer, Read read) {
  if (!answer) return answer.error();
  try {
    return read(answer.value());
  } catch (const std::exception& error) {  // of json, stoll and bytes()
    return {Errc::io, std::string("etcd answered what cannot be understood: ") + error.what()};
  }
}

std::int64_t revision_of(const json& answer) { return whole(answer.at("header"), "revision"); }

}  // namespace

struct EtcdClient::Members {
  std::vector<HttpConnection> all;
  EtcdOptions options;
  EtcdLogin login;
  std::size_t current = 0;  // the one that answered last

  Result<json> call(const std::string& path, const json& body);
};

Result<json> EtcdClient::Members::call(const std::string& path, const json& body) {
  using Wall = std::chrono::steady_clock;
  const auto until = Wall::now() + options.call;
  const std::string text = body.dump();
  std::map<std::string, std::string> causes;
  int logins = 0;
  for (std::size_t tries = 1;; ++tries) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Wall::now());
    if (left <= milliseconds(0)) break;
    HttpConnection& member = all[current];
    const Status logged_in = login.ensure(member, left);
    const auto answer =
        logged_in.ok() ? member.post(path, text, std::min(left, options.attempt), login.token())
                       : Result<HttpConnection::Answer>(logged_in.error());
    if (answer && answer.value().status == 200) {
      json parsed = json::parse(answer.value().body, nullptr, false);
      if (parsed.is_object()) return parsed;
      causes[member.name()] = "the answer is not JSON";
    } else if (answer) {
      const EtcdRefusal refused = EtcdRefusal::of(answer.value());
      // A member that was started again knows no logins, and a changed role ends them.
      if (refused.login_is_over() && login.has_user() && logins++ < 2) {
        login.forget();
        continue;
      }
      if (const auto code = hopeless(refused))
        return {*code, "etcd at " + member.name() + ": " + login.explain(refused)};
      causes[member.name()] = refused.why;
    } else if (answer.error().code == Errc::io) {
      // The last attempt has less time, so what it ends with says less than what came before.
      if (left >= options.attempt || !causes.contains(member.name()))
        causes[member.name()] = answer.error().message;
    } else {  // no member will take this login
      return {Errc::io, "etcd at " + member.name() + ": " + answer.error().message};
    }
    current = (current + 1) % all.size();
    if (tries % all.size() == 0) std::this_thread::sleep_for(std::min(left, kPause));
  }
  std::string message =
      "etcd has not answered within " + std::to_string(options.call.count()) + " ms";
  for (const auto& [name, cause] : causes) message += "; " + name + ": " + cause;
  return {Errc::io, message};
}

EtcdClient::EtcdClient(const EtcdAddress& address, const EtcdOptions& options)
    : members_(std::make_unique<Members>()) {
  STARLING_CHECK(!address.members.empty());
  const TlsFiles files = tls_files(address.access);
  for (const auto& [host, port] : address.members)
    members_->all.emplace_back(host, port, address.tls ? &files : nullptr);
  members_->options = options;
  members_->login = EtcdLogin(address);
}
EtcdClient::~EtcdClient() = default;
EtcdClient::EtcdClient(EtcdClient&&) noexcept = default;
EtcdClient& EtcdClient::operator=(EtcdClient&&) noexcept = default;

Result<EtcdAnswer> EtcdClient::txn(const EtcdTxn& txn) {
  json body{{"success", to_json(txn.then)}, {"failure", to_json(txn.otherwise)}};
  for (const EtcdCompare& c : txn.conditions) body["compare"].push_back(to_json(c));
  return understood<EtcdAnswer>(members_->call("/v3/kv/txn", body), [](const json& j) {
    EtcdAnswer answer;
    answer.held = j.value("succeeded", false);
    answer.revision = revision_of(j);
    if (const auto responses = j.find("responses"); responses != j.end()) {
      for (const json& response : *responses) {
        const auto range = response.find("response_range");
        answer.found.push_back(range == response.end() ? std::vector<EtcdEntry>{}
                                                       : entries(*range));
      }
    }
    return answer;
  });
}

Result<EtcdPage> EtcdClient::range(const std::string& first, const std::string& end,
                                   std::int64_t limit, std::int64_t revision) {
  const json body{{"key", to_base64(first)},
                  {"range_end", to_base64(end)},
                  {"limit", std::to_string(limit)},
                  {"revision", std::to_string(revision)}};
  return understood<EtcdPage>(members_->call("/v3/kv/range", body), [](const json& j) {
    return EtcdPage{entries(j), j.value("more", false), revision_of(j)};
  });
}

Result<std::int64_t> EtcdClient::erase_prefix(const std::string& prefix) {
  const json body{{"key", to_base64(prefix)}, {"range_end", to_base64(behind(prefix))}};
  return understood<std::int64_t>(members_->call("/v3/kv/deleterange", body),
                                  [](const json& j) { return whole(j, "deleted"); });
}

Result<EtcdLease> EtcdClient::grant(std::chrono::seconds ttl) {
  const json body{{"TTL", std::to_string(ttl.count())}};
  return understood<EtcdLease>(members_->call("/v3/lease/grant", body), [](const json& j) {
    return EtcdLease{whole(j, "ID"), std::chrono::seconds(whole(j, "TTL"))};
  });
}

Result<std::chrono::seconds> EtcdClient::keep_alive(std::int64_t lease) {
  const json body{{"ID", std::to_string(lease)}};
  return understood<std::chrono::seconds>(
      members_->call("/v3/lease/keepalive", body),
      [](const json& j) { return std::chrono::seconds(whole(j.at("result"), "TTL")); });
}

Status EtcdClient::revoke(std::int64_t lease) {
  const json body{{"ID", std::to_string(lease)}};
  const auto revoked = members_->call("/v3/lease/revoke", body);
  // It may have lapsed, or an earlier try of this call may have done it.
  if (!revoked && revoked.error().code != Errc::not_found) return revoked.error();
  return done();
}

}  // namespace starling
