// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/http/http_server.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/ssl.hpp>
#include <exception>

#include "launch/gateway/http/http_connection.h"
#include "launch/system/log.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using asio::local::stream_protocol;
using PlainStream = boost::beast::basic_stream<tcp>;
using LocalStream = boost::beast::basic_stream<stream_protocol>;
using TlsStream = boost::beast::ssl_stream<PlainStream>;

constexpr auto kHandshake = std::chrono::seconds(10);
constexpr auto kTick = std::chrono::milliseconds(100);

/// Whether a server answers there.
bool is_served(const std::string& path) {
  asio::io_context context;
  stream_protocol::socket socket(context);
  boost::system::error_code error;
  socket.connect(stream_protocol::endpoint(path), error);
  return !error;
}

std::optional<uid_t> uid_of(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return std::nullopt;
  return peer.uid;
}

}  // namespace

Result<HostPort> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const auto port = colon == std::string::npos
                        ? std::nullopt
                        : parse_whole(std::string_view(text).substr(colon + 1));
  if (!port || *port > 65'535 || colon == 0)
    return {Errc::invalid, "--listen: '" + text.substr(0, 128) +
                               "' is wrong, give HOST:PORT, as 127.0.0.1:8750 or [::1]:8750"};
  std::string host = text.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return HostPort{host, static_cast<std::uint16_t>(*port)};
}

bool is_loopback(const std::string& host) {
  boost::system::error_code error;
  const auto address = asio::ip::make_address(host, error);
  return error ? host == "localhost" : address.is_loopback();
}

struct HttpServer::Parts {
  HttpBounds bounds;
  Handle handle;
  asio::io_context context{1};
  std::optional<asio::ssl::context> tls;
  std::optional<tcp::acceptor> tcp_door;
  std::optional<stream_protocol::acceptor> local_door;
  std::string local_path;
  std::size_t open = 0;
  std::uint64_t refused = 0;

  Status open_tls(const HttpPlaces& places);
  Status open_tcp(const std::string& listen);
  Status open_local(const std::string& path);
  asio::awaitable<void> accept_tcp();
  asio::awaitable<void> accept_local();
  asio::awaitable<void> serve_plain(PlainStream stream, HttpPeer peer);
  asio::awaitable<void> serve_tls(PlainStream stream, HttpPeer peer);
  asio::awaitable<void> serve_local(LocalStream stream, HttpPeer peer);
  asio::awaitable<void> tick(std::function<void()> what);
  /// A connection more; false: there are too many.
  bool enter() {
    if (open >= bounds.connections) return ++refused, false;
    return ++open, true;
  }
  template <class Coroutine>
  void spawn(Coroutine coroutine) {
    asio::co_spawn(context, std::move(coroutine), [this](const std::exception_ptr& broken) {
      --open;
      if (!broken) return;
      try {
        std::rethrow_exception(broken);
      } catch (const std::exception& error) {
        log_error(std::string("a connection broke: ") + error.what());
      }
    });
  }
};

Status HttpServer::Parts::open_tls(const HttpPlaces& places) {
  tls.emplace(asio::ssl::context::tls_server);
  boost::system::error_code error;
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1 | asio::ssl::context::no_sslv2 |
                   asio::ssl::context::no_sslv3);
  tls->use_certificate_chain_file(places.certificate, error);
  if (error)
    return {Errc::invalid, places.certificate + ": no certificate in PEM: " + error.message()};
  tls->use_private_key_file(places.key, asio::ssl::context::pem, error);
  if (error)
    return {Errc::invalid, places.key + ": no key of that certificate: " + error.message()};
  return done();
}

Status HttpServer::Parts::open_tcp(const std::string& listen) {
  const auto place = parse_listen(listen);
  if (!place) return place.error();
  boost::system::error_code error;
  const auto found = tcp::resolver(context).resolve(
      place.value().host, std::to_string(place.value().port), tcp::resolver::passive, error);
  if (error || found.empty())
    return {Errc::invalid, "--listen: '" + place.value().host + "': " + error.message()};
  const tcp::endpoint at = found.begin()->endpoint();
  tcp_door.emplace(context);
  tcp_door->open(at.protocol(), error);
  if (!error) tcp_door->set_option(asio::socket_base::reuse_address(true), error);
  if (!error) tcp_door->bind(at, error);
  if (!error) tcp_door->listen(asio::socket_base::max_listen_connections, error);
  if (error) return {Errc::io, "cannot listen at " + listen + ": " + error.message()};
  return done();
}

Status HttpServer::Parts::open_local(const std::string& path) {
  if (path.size() >= sizeof(sockaddr_un::sun_path))
    return {Errc::invalid, "--socket: the path is longer than the system takes"};
  struct stat there {};
  if (lstat(path.c_str(), &there) == 0) {
    if (!S_ISSOCK(there.st_mode))
      return {Errc::invalid, "--socket: " + path + " is there and no socket"};
    if (is_served(path))
      return {Errc::invalid, "--socket: another program serves " + path + " already"};
    ::unlink(path.c_str());
  }
  boost::system::error_code error;
  local_door.emplace(context);
  local_door->open(stream_protocol(), error);
  if (!error) local_door->bind(stream_protocol::endpoint(path), error);
  if (!error) local_door->listen(asio::socket_base::max_listen_connections, error);
  if (error) return {Errc::io, "cannot listen at " + path + ": " + error.message()};
  local_path = path;
  // Everybody may call: the system says who it is.
  if (::chmod(path.c_str(), 0666) != 0) return {Errc::io, "cannot open " + path + " to others"};
  return done();
}

asio::awaitable<void> HttpServer::Parts::accept_tcp() {
  for (;;) {
    boost::system::error_code error;
    tcp::socket socket(context);
    co_await tcp_door->async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {  // as where there are no more descriptors
      asio::steady_timer pause(context, kTick);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    const auto remote = socket.remote_endpoint(error);
    if (error || !enter()) continue;
    socket.set_option(tcp::no_delay(true), error);
    HttpPeer peer{remote.address().to_string()};
    PlainStream stream(std::move(socket));
    if (tls) {
      spawn(serve_tls(std::move(stream), std::move(peer)));
    } else {
      spawn(serve_plain(std::move(stream), std::move(peer)));
    }
  }
}

asio::awaitable<void> HttpServer::Parts::accept_local() {
  for (;;) {
    boost::system::error_code error;
    stream_protocol::socket socket(context);
    co_await local_door->async_accept(socket, asio::redirect_error(asio::use_awaitable, error));
    if (error == asio::error::operation_aborted) co_return;
    if (error) {
      asio::steady_timer pause(context, kTick);
      co_await pause.async_wait(asio::redirect_error(asio::use_awaitable, error));
      continue;
    }
    if (!enter()) continue;
    HttpPeer peer{"unix", uid_of(socket.native_handle())};
    spawn(serve_local(LocalStream(std::move(socket)), std::move(peer)));
  }
}

asio::awaitable<void> HttpServer::Parts::serve_plain(PlainStream stream, HttpPeer peer) {
  WebConnection<PlainStream> connection(stream, bounds, handle, std::move(peer));
  co_await connection.serve();
  boost::system::error_code ignored;
  stream.socket().shutdown(tcp::socket::shutdown_send, ignored);
}

asio::awaitable<void> HttpServer::Parts::serve_local(LocalStream stream, HttpPeer peer) {
  WebConnection<LocalStream> connection(stream, bounds, handle, std::move(peer));
  co_await connection.serve();
}

asio::awaitable<void> HttpServer::Parts::serve_tls(PlainStream plain, HttpPeer peer) {
  TlsStream stream(std::move(plain), *tls);
  boost::system::error_code error;
  boost::beast::get_lowest_layer(stream).expires_after(kHandshake);
  co_await stream.async_handshake(asio::ssl::stream_base::server,
                                  asio::redirect_error(asio::use_awaitable, error));
  if (error) co_return;
  WebConnection<TlsStream> connection(stream, bounds, handle, std::move(peer));
  co_await connection.serve();
  boost::beast::get_lowest_layer(stream).expires_after(kHandshake);
  co_await stream.async_shutdown(asio::redirect_error(asio::use_awaitable, error));
}

asio::awaitable<void> HttpServer::Parts::tick(std::function<void()> what) {
  asio::steady_timer timer(context);
  while (!stop_requested()) {
    what();
    timer.expires_after(kTick);
    boost::system::error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  context.stop();
}

HttpServer::HttpServer(const HttpBounds& bounds, Handle handle)
    : parts_(std::make_unique<Parts>()) {
  parts_->bounds = bounds;
  parts_->handle = std::move(handle);
}

HttpServer::~HttpServer() {
  if (!parts_->local_path.empty()) ::unlink(parts_->local_path.c_str());
}

Status HttpServer::listen(const HttpPlaces& places) {
  if (!places.certificate.empty())
    if (Status s = parts_->open_tls(places); !s.ok()) return s;
  if (!places.listen.empty())
    if (Status s = parts_->open_tcp(places.listen); !s.ok()) return s;
  if (!places.socket.empty())
    if (Status s = parts_->open_local(places.socket); !s.ok()) return s;
  return done();
}

std::uint16_t HttpServer::port() const noexcept {
  boost::system::error_code error;
  return parts_->tcp_door ? parts_->tcp_door->local_endpoint(error).port() : 0;
}

void HttpServer::later(std::function<void()> what) { asio::post(parts_->context, std::move(what)); }

void HttpServer::run(const std::function<void()>& tick) {
  if (parts_->tcp_door) asio::co_spawn(parts_->context, parts_->accept_tcp(), asio::detached);
  if (parts_->local_door) asio::co_spawn(parts_->context, parts_->accept_local(), asio::detached);
  asio::co_spawn(parts_->context, parts_->tick(tick), asio::detached);
  parts_->context.run();
}

std::size_t HttpServer::connections() const noexcept { return parts_->open; }
std::uint64_t HttpServer::refused() const noexcept { return parts_->refused; }

}  // namespace starling
