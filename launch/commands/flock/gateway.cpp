// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/flock/gateway.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/secret_file.h"
#include "launch/command_line/exit_codes.h"
#include "launch/deployment/deployment.h"
#include "launch/gateway/gateway.h"
#include "launch/gateway/gateway_routes.h"
#include "launch/gateway/token_book.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock, listen, socket, certificate, key, tokens;
  std::uint32_t rate = 50, burst = 200, connections = 8192, watchers = 4096;
  bool plain = false;
};

struct TokenOptions {
  std::string flock, tokens, user, role = "user", expires = "30d", id;
  bool json = false;
};

/// As many connections as asked for, where the system lets us.
void raise_descriptors() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

int gateway(const Options& o) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  if (o.certificate.empty() != o.key.empty())
    return bad_input("gateway: --tls-cert and --tls-key go together");
  GatewayOptions options;
  options.places = {o.listen, o.socket, o.certificate, o.key};
  if (o.listen.empty() && o.socket.empty()) options.places.listen = "127.0.0.1:8750";
  if (!options.places.listen.empty()) {
    const auto place = parse_listen(options.places.listen);
    if (!place) return bad_input("gateway: " + place.error().message);
    if (o.certificate.empty() && !o.plain && !is_loopback(place.value().host)) {
      return bad_input("gateway: without TLS everybody on the way to " + place.value().host +
                       " could read tokens; give --tls-cert and --tls-key, or --plain behind a "
                       "proxy that has them");
    }
  }
  if (!o.key.empty()) {
    if (const auto secret = read_secret(o.key); !secret) return failed(secret.error());
  }
  if (const auto flock = read_deployment(dir.value()); !flock) return failed(flock.error());
  options.flock = dir.value();
  options.tokens = o.tokens.empty() ? default_tokens(dir.value()) : std::filesystem::path(o.tokens);
  options.rate = o.rate;
  options.burst = std::max(o.burst, 1U);
  options.bounds.connections = o.connections;
  options.limits.most_watchers = o.watchers;
  raise_descriptors();
  catch_stop_signals();
  log_as("gateway");
  const Status ran = run_gateway(options, [](const std::string& where) {
    std::printf("%s\n", where.c_str());
    std::fflush(stdout);
  });
  return ran.ok() ? kDone : failed({ran.error().code, "gateway: " + ran.error().message});
}

Result<std::filesystem::path> tokens_of(const TokenOptions& o) {
  if (!o.tokens.empty()) return std::filesystem::path(o.tokens);
  const auto dir = flock_dir(o.flock);
  if (!dir) return dir.error();
  if (const auto flock = read_deployment(dir.value()); !flock) return flock.error();
  return default_tokens(dir.value());
}

int new_token(const TokenOptions& o) {
  const auto role = caller_role(o.role);
  if (!role)
    return bad_input("gateway token new: --role: '" + o.role +
                     "' is none; give viewer, user or operator");
  const auto lifetime = parse_lifetime(o.expires);
  if (!lifetime)
    return bad_input("gateway token new: --expires: '" + o.expires +
                     "' is wrong, give how long, as 12h or 30d, at most 3653d");
  const auto file = tokens_of(o);
  if (!file) return failed(file.error());
  std::string token;
  const Status added = TokenBook::change(file.value(), [&](TokenBook& book) -> Status {
    const Date now = std::chrono::system_clock::now();
    auto made = book.add(o.user, *role, now, now + *lifetime);
    if (!made) return made.error();
    token = std::move(made).value();
    return done();
  });
  if (!added.ok())
    return failed({added.error().code, "gateway token new: " + added.error().message});
  std::printf("%s\n", token.c_str());
  return kDone;
}

int list_tokens(const TokenOptions& o) {
  const auto file = tokens_of(o);
  if (!file) return failed(file.error());
  const auto book = TokenBook::read(file.value());
  if (!book) return failed(book.error());
  const Date now = std::chrono::system_clock::now();
  std::vector<std::vector<std::string>> rows{{"token", "user", "role", "expires", "holds"}};
  nlohmann::json list = nlohmann::json::array();
  for (const TokenEntry& entry : book.value().entries()) {
    const std::string expires = formatted(entry.expires, "%Y-%m-%dT%H:%M:%SZ", Zone::utc);
    const bool holds = now < entry.expires;
    rows.push_back({entry.id, entry.user, name_of(entry.role), expires, holds ? "yes" : "no"});
    list.push_back({{"token", entry.id},
                    {"user", entry.user},
                    {"role", name_of(entry.role)},
                    {"expires", expires},
                    {"holds", holds}});
  }
  std::fputs(o.json ? (nlohmann::json{{"schema", 1}, {"tokens", list}}.dump(1) + "\n").c_str()
                    : table_text(rows).c_str(),
             stdout);
  return kDone;
}

int revoke_token(const TokenOptions& o) {
  const auto file = tokens_of(o);
  if (!file) return failed(file.error());
  const Status revoked =
      TokenBook::change(file.value(), [&](TokenBook& book) { return book.remove(o.id); });
  return revoked.ok()
             ? kDone
             : failed({revoked.error().code, "gateway token revoke: " + revoked.error().message});
}

void add_tokens(const Command& gateway) {
  const Command token = gateway.sub("token", "who may use it");
  const auto places = [](const Command& of, const std::shared_ptr<TokenOptions>& o) {
    of.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
    of.option("--tokens", o->tokens, "FILE", "of the tokens; default DIR/gateway-tokens.json");
  };
  {
    const auto o = std::make_shared<TokenOptions>();
    const Command sub = token.sub("new", "a token, printed once and kept nowhere");
    sub.positional("USER", o->user, "whose jobs it submits");
    sub.option("--role", o->role, "ROLE", "viewer, user or operator (default user)");
    sub.option("--expires", o->expires, "TIME", "it holds for so long: 12h, 30d (default 30d)");
    places(sub, o);
    sub.examples({"starling gateway token new ann --expires 90d",
                  "starling gateway token new prometheus --role viewer --expires 365d"});
    sub.action([o] { return new_token(*o); });
  }
  {
    const auto o = std::make_shared<TokenOptions>();
    const Command sub = token.sub("list", "the tokens, by the beginning of their digests");
    places(sub, o);
    sub.flag("--json", o->json, "only JSON on stdout");
    sub.action([o] { return list_tokens(*o); });
  }
  {
    const auto o = std::make_shared<TokenOptions>();
    const Command sub = token.sub("revoke", "it does not hold any more, at once");
    sub.positional("TOKEN", o->id, "as `list` names it");
    places(sub, o);
    sub.action([o] { return revoke_token(*o); });
  }
}

}  // namespace

void add_gateway(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("gateway", "a flock over HTTP, with a page and figures");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.option("--listen", o->listen, "HOST:PORT",
                 "where (default 127.0.0.1:8750, unless --socket is given); port 0: any");
  command.option("--socket", o->socket, "PATH", "a Unix socket, where users need no token");
  command.option("--tls-cert", o->certificate, "FILE", "certificate chain in PEM");
  command.option("--tls-key", o->key, "FILE", "its key in PEM, mode 0600");
  command.flag("--plain", o->plain, "without TLS, though others than this machine may reach it");
  command.option("--tokens", o->tokens, "FILE", "of the tokens; default DIR/gateway-tokens.json");
  command.option("--rate", o->rate, "N", "requests a second of each caller (default 50)", 1U,
                 1'000'000U);
  command.option("--burst", o->burst, "N", "and so many at once (default 200)", 1U, 1'000'000U);
  command.option("--connections", o->connections, "N", "at most (default 8192)", 1U, 1'000'000U);
  command.option("--watchers", o->watchers, "N", "of events, at most (default 4096)", 1U,
                 1'000'000U);
  command.examples(
      {"starling gateway --flock flock", "starling gateway --socket /run/starling.sock",
       "starling gateway --listen 0.0.0.0:8750 --tls-cert cert.pem --tls-key key.pem"});
  add_tokens(command);
  command.action([o] { return gateway(*o); });
}

}  // namespace starling
