// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/etcd_login.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace starling {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds kWait{2};  // each login costs etcd a tenth of a second of its time

}  // namespace

EtcdRefusal EtcdRefusal::of(const HttpConnection::Answer& answer) {
  const json body = json::parse(answer.body, nullptr, false);
  EtcdRefusal refused{0, "HTTP status " + std::to_string(answer.status)};
  if (!body.is_object()) {
    // What Go's servers say in plain to a client without TLS.
    if (answer.body.find("HTTPS server") != std::string::npos)
      refused.why = "it speaks TLS: give etcds://";
    return refused;
  }
  const auto number = body.find("code");
  const auto text = body.find("message");
  if (number != body.end() && number->is_number()) refused.code = number->get<std::int64_t>();
  if (text != body.end() && text->is_string()) refused.why = text->get<std::string>();
  return refused;
}

bool EtcdRefusal::login_is_over() const {
  return code == 16 || why.find("revision in header is old") != std::string::npos ||
         why.find("user name is empty") != std::string::npos;
}

bool EtcdRefusal::about_access() const {
  return code == 7 || login_is_over() || why.find("authentication") != std::string::npos;
}

EtcdLogin::EtcdLogin(const EtcdAddress& address)
    : access_(address.access), prefix_(etcd_root(address)) {
  if (address.name.empty()) prefix_ = "/starling/";
}

Status EtcdLogin::ensure(HttpConnection& member, std::chrono::milliseconds patience) {
  if (!has_user() || !token_.empty()) return done();
  if (refused_ && std::chrono::steady_clock::now() < not_before_) return *refused_;
  refused_.reset();
  const auto never = [&](std::string why) -> Status {
    refused_ = Error{Errc::invalid, std::move(why)};
    not_before_ = std::chrono::steady_clock::now() + kWait;
    return *refused_;
  };
  const auto password = read_password(access_);
  if (!password) return never(password.error().message);
  const json body{{"name", access_.user}, {"password", password.value()}};
  const auto answer = member.post("/v3/auth/authenticate", body.dump(), patience);
  if (!answer) return answer.error();
  if (answer.value().status != 200) {
    const EtcdRefusal refused = EtcdRefusal::of(answer.value());
    if (refused.about_access()) return never(explain(refused));
    return {Errc::io, refused.why};
  }
  const json parsed = json::parse(answer.value().body, nullptr, false);
  const auto found = parsed.is_object() ? parsed.find("token") : parsed.end();
  if (!parsed.is_object() || found == parsed.end() || !found->is_string())
    return {Errc::io, "the answer to a login has no token"};
  token_ = found->get<std::string>();
  return done();
}

std::string EtcdLogin::explain(const EtcdRefusal& refused) const {
  const std::string user = "user '" + access_.user + "'";
  if (!has_user() && (refused.code == 7 || refused.login_is_over()))
    return "it wants a user and a password (--etcd-user and --etcd-password-file)";
  if (refused.code == 7) {
    return "permission denied: " + user +
           " needs a role with the permission readwrite on the prefix '" + prefix_ + "'";
  }
  if (refused.why.find("authentication failed") != std::string::npos)
    return "there is no " + user + ", or its password is not that in " + access_.password;
  if (refused.why.find("authentication is not enabled") != std::string::npos)
    return user + " cannot log in, since authentication is not enabled there";
  return refused.why;
}

}  // namespace starling
