// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/gateway.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <utility>

#include "base/login_name.h"
#include "launch/client/session.h"
#include "launch/gateway/gateway_routes.h"
#include "launch/system/log.h"

namespace starling {
namespace {

/// Changes with the file.
std::string stamp_of(const std::filesystem::path& file) {
  struct stat there {};
  if (::lstat(file.c_str(), &there) != 0) return "none";
  return std::to_string(there.st_ino) + "." + std::to_string(there.st_mtim.tv_sec) + "." +
         std::to_string(there.st_mtim.tv_nsec) + "." + std::to_string(there.st_mode) + "." +
         std::to_string(there.st_uid) + "." + std::to_string(there.st_size);
}

HttpAnswer refused_role(const Caller& caller, CallerRole wanted) {
  if (caller.role == CallerRole::anonymous)
    return http_error(401, "unauthorized", "a token is needed: Authorization: Bearer ...");
  return http_error(403, "forbidden",
                    "this needs the role " + std::string(name_of(wanted)) + ", and '" +
                        caller.user + "' has the role " + name_of(caller.role));
}

}  // namespace

std::filesystem::path default_tokens(const std::filesystem::path& flock) {
  return flock / "gateway-tokens.json";
}

Status GatewayDoor::look() {
  std::string stamp = stamp_of(tokens_);
  if (stamp == stamp_) return done();
  auto book = TokenBook::read(tokens_);
  stamp_ = std::move(stamp);
  ++changes_;
  if (!book) {
    book_ = TokenBook();
    return book.error();
  }
  book_ = std::move(book).value();
  return done();
}

std::optional<Caller> GatewayDoor::caller(const HttpRequest& request, Date now) const {
  if (request.bearer) return book_.caller(*request.bearer, now);
  if (!request.uid) return Caller{"", CallerRole::anonymous, request.address};
  const std::string user = login_name_of(*request.uid);
  const bool ours = *request.uid == 0 || *request.uid == ::geteuid();
  return Caller{user, ours ? CallerRole::operator_ : CallerRole::user,
                "uid " + std::to_string(*request.uid)};
}

std::optional<HttpAnswer> Gateway::too_often(RateLimit& limit, const std::string& who) {
  const Duration wait = limit.wait(who, Session::now());
  if (wait == Duration::zero()) return std::nullopt;
  HttpAnswer answer = http_error(429, "too_often", "too many requests; ask again later");
  const auto whole = static_cast<long>(std::ceil(seconds(wait)));
  answer.headers.emplace_back("Retry-After", std::to_string(whole));
  return answer;
}

HttpReply Gateway::watched(const HttpRequest& request, const HttpReply& reply) {
  HttpRequest who;
  who.bearer = request.bearer;
  who.uid = request.uid;
  who.address = request.address;
  return [this, who, reply](HttpAnswer answer) {
    if (answer.stream != nullptr) {
      // Without an end: the next look finds out whether its token holds still, or for how long.
      flock_.later([this, who, stream = std::weak_ptr(answer.stream)] {
        going_.push_back({who, Date::min(), stream});
      });
    }
    reply(std::move(answer));
  };
}

void Gateway::end_streams(Date now) {
  const bool changed = std::exchange(changes_, door_.changes()) != door_.changes();
  std::erase_if(going_, [&](Going& one) {
    const auto stream = one.stream.lock();
    if (stream == nullptr || stream->closed()) return true;
    if (!changed && now < one.until) return false;
    const auto caller = door_.caller(one.who, now);
    if (caller && caller->may(CallerRole::viewer)) {
      one.until = caller->until;
      return false;
    }
    stream->close();
    return true;
  });
}

void Gateway::handle(const HttpRequest& request, const HttpReply& reply) {
  const Instant begun = Session::now();
  std::string route = "none";
  // Counted in the server's thread, whichever replies.
  const auto count = [this, begun](const std::string& of, const HttpReply& to) -> HttpReply {
    return [this, begun, of, to](HttpAnswer answer) {
      flock_.later([this, of, status = answer.status, took = Session::now() - begun] {
        flock_.counts().add(of, status, seconds(took));
      });
      to(std::move(answer));
    };
  };
  const auto refuse = [&](HttpAnswer answer) { count(route, reply)(std::move(answer)); };

  const auto target = parse_target(request.target);
  if (!target)
    return refuse(http_error(400, "invalid", "the path or its query is not well formed"));
  const auto caller = door_.caller(request, std::chrono::system_clock::now());
  // A caller without a token that holds is counted by address, so that none can try many.
  const bool stranger = !caller || caller->role == CallerRole::anonymous;
  if (auto wait =
          stranger ? too_often(strangers_, request.address) : too_often(known_, caller->key))
    return refuse(*std::move(wait));
  auto found = find_route(request.method, target->path);
  if (auto* wrong = std::get_if<HttpAnswer>(&found)) return refuse(std::move(*wrong));
  const FoundRoute& place = std::get<FoundRoute>(found);
  route = place.route->id;
  if (!caller && place.route->role != CallerRole::anonymous)
    return refuse(http_error(401, "unauthorized", "the token does not hold, or not any more"));
  const Caller known = caller.value_or(Caller{});
  if (!known.may(place.route->role)) return refuse(refused_role(known, place.route->role));
  auto call = checked_call(place, *target, request);
  if (auto* wrong = std::get_if<HttpAnswer>(&call)) return refuse(std::move(*wrong));
  GatewayCall& right = std::get<GatewayCall>(call);
  right.caller = known;
  place.route->handler(flock_, right, watched(request, count(route, reply)));
}

Status run_gateway(const GatewayOptions& options,
                   const std::function<void(const std::string&)>& said) {
  GatewayDoor door(options.tokens);
  if (Status s = door.look(); !s.ok()) return s;
  Gateway* gateway = nullptr;
  // The server is there before the flock, whose threads tell it things, and goes after it.
  HttpServer server(options.bounds, [&gateway](const HttpRequest& request, const HttpReply& reply) {
    gateway->handle(request, reply);
  });
  if (Status s = server.listen(options.places); !s.ok()) return s;
  GatewayFlock flock(options.flock, options.limits,
                     [&server](std::function<void()> what) { server.later(std::move(what)); });
  Gateway made(flock, door, options.rate, options.burst);
  gateway = &made;
  if (!options.places.listen.empty()) {
    const auto place = parse_listen(options.places.listen);
    const bool v6 = place.value().host.find(':') != std::string::npos;
    said(std::string(options.places.certificate.empty() ? "http://" : "https://") +
         (v6 ? "[" : "") + place.value().host + (v6 ? "]:" : ":") + std::to_string(server.port()));
  }
  if (!options.places.socket.empty()) said("unix:" + options.places.socket);
  server.run([&] {
    if (const Status s = door.look(); !s.ok()) log_error("no token holds: " + s.error().message);
    made.end_streams(std::chrono::system_clock::now());
    flock.counts().connections = server.connections();
    flock.counts().refused_connections = server.refused();
    flock.tick();
  });
  flock.events().close();
  return done();
}

}  // namespace starling
