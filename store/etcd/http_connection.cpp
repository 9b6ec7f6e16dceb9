// SPDX-License-Identifier: Apache-2.0
#include "store/etcd/http_connection.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <optional>
#include <utility>

#include "store/etcd/tls.h"

namespace starling {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

/// No answer of a store that pages its reads comes near it.
constexpr std::uint64_t kLargestAnswer = 256ULL << 20U;
constexpr std::chrono::milliseconds kForAlert{300};
constexpr const char* kNoAnswer = "no answer";

}  // namespace

struct HttpConnection::Stream {
  using Secure = asio::ssl::stream<beast::tcp_stream&>;
  /// Takes file descriptors of its own, so there may be none left for it.
  struct Machinery {
    asio::io_context io;
    beast::tcp_stream tcp{io};
  };
  std::string host, port, name;
  std::optional<TlsFiles> tls;
  std::unique_ptr<Machinery> machinery;  // from the first connection on
  std::unique_ptr<asio::ssl::context> context;
  std::unique_ptr<Secure> secure;  // of this connection
  beast::flat_buffer buffer;
  bool open = false;
  bool answered = false;  // it ever has

  /// Runs what was just begun to its end, which the stream's timer bounds.
  void run() {
    machinery->io.restart();
    machinery->io.run();
  }
  /// What is wrong; empty: nothing is.
  std::string connect(std::chrono::milliseconds patience) {
    close();
    error_code result;
    try {
      if (!machinery) machinery = std::make_unique<Machinery>();
      asio::ip::tcp::resolver resolver(machinery->io);
      const auto found = resolver.resolve(host, port, result);
      if (result) return result.message();
      beast::tcp_stream& tcp = machinery->tcp;
      tcp.expires_after(patience);
      tcp.async_connect(found, [&](error_code e, const asio::ip::tcp::endpoint&) { result = e; });
      run();
      if (!result) tcp.socket().set_option(asio::ip::tcp::no_delay(true), result);
      if (result) return result == beast::error::timeout ? kNoAnswer : result.message();
      if (tls) {
        if (std::string trouble = shake_hands(); !trouble.empty()) return close(), trouble;
      }
    } catch (const boost::system::system_error& refused) {
      return refused.code().message();
    }
    open = true;
    return {};
  }
  std::string shake_hands() {
    auto made = tls_context(*tls);
    if (!made) return made.error().message;
    context = std::move(made).value();
    secure = std::make_unique<Secure>(machinery->tcp, *context);
    expect_host(secure->native_handle(), host);
    error_code result;
    secure->async_handshake(asio::ssl::stream_base::client, [&](error_code e) { result = e; });
    run();
    if (!result) return {};
    if (result == beast::error::timeout) return kNoAnswer;
    return tls_trouble(secure->native_handle(), result, *tls, host);
  }
  void close() {
    secure.reset();
    context.reset();
    if (machinery) machinery->tcp.close();
    buffer.clear();
    open = false;
  }
  template <class Over>
  error_code exchange(Over& over, const http::request<http::string_body>& request,
                      http::response_parser<http::string_body>& parser) {
    error_code result;
    http::async_write(over, request, [&](error_code written, std::size_t) {
      result = written;
      if (written) return;
      http::async_read(over, buffer, parser, [&](error_code read, std::size_t) { result = read; });
    });
    run();
    return result;
  }
  /// What is wrong; empty: nothing is. Closed unless the connection can be used again.
  std::string exchange(const http::request<http::string_body>& request,
                       http::response_parser<http::string_body>& parser,
                       std::chrono::milliseconds patience) {
    beast::tcp_stream& tcp = machinery->tcp;
    tcp.expires_after(patience);
    const error_code result =
        secure ? exchange(*secure, request, parser) : exchange(tcp, request, parser);
    std::string trouble;
    // With TLS 1.3 a server says only after the handshake that it does not take a certificate.
    if (result && secure && result.category() == asio::error::get_ssl_category()) {
      trouble = "cannot connect: " + tls_trouble(secure->native_handle(), result, *tls, host);
    } else if (result == beast::error::timeout) {
      trouble = kNoAnswer;
    } else if (result == http::error::end_of_stream && !secure && !answered) {
      trouble = "it ends the connection without an answer (one with TLS does; then give etcds://)";
    } else if (result) {
      trouble = "the connection broke: " + result.message();
    }
    const bool unexplained = result && result != beast::error::timeout && secure && !answered &&
                             result.category() != asio::error::get_ssl_category();
    if (!result) answered = true;
    if (result || !parser.get().keep_alive()) close();
    if (unexplained) {
      if (std::string alert = first_alert(patience); !alert.empty()) return alert;
    }
    return trouble;
  }
  /// Why a server ends new connections over TLS; empty: it does not say. Its word may be lost where
  /// a request was on the way to it, so here none is.
  std::string first_alert(std::chrono::milliseconds patience) {
    std::string trouble = connect(patience);
    if (!trouble.empty()) return "cannot connect: " + trouble;
    error_code result;
    char byte = 0;
    machinery->tcp.expires_after(std::min(patience, kForAlert));
    secure->async_read_some(asio::buffer(&byte, 1),
                            [&](error_code read, std::size_t) { result = read; });
    run();
    if (result.category() == asio::error::get_ssl_category())
      trouble = "cannot connect: " + tls_trouble(secure->native_handle(), result, *tls, host);
    close();
    return trouble;
  }
};

HttpConnection::HttpConnection(std::string host, std::string port, const TlsFiles* tls)
    : stream_(std::make_unique<Stream>()) {
  stream_->name = host + ":" + port;
  stream_->host = std::move(host);
  stream_->port = std::move(port);
  if (tls != nullptr) stream_->tls = *tls;
}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

const std::string& HttpConnection::name() const noexcept { return stream_->name; }

Result<HttpConnection::Answer> HttpConnection::post(const std::string& path,
                                                    const std::string& body,
                                                    std::chrono::milliseconds patience,
                                                    const std::string& token) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(1),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        until - std::chrono::steady_clock::now()));
  };
  http::request<http::string_body> request(http::verb::post, path, 11);
  request.set(http::field::host, stream_->name);
  request.set(http::field::content_type, "application/json");
  if (!token.empty()) request.set(http::field::authorization, token);
  request.keep_alive(true);
  request.body() = body;
  request.prepare_payload();
  for (;;) {
    const bool reused = stream_->open;
    if (!reused) {
      if (const std::string refused = stream_->connect(left()); !refused.empty())
        return {Errc::io, "cannot connect: " + refused};
    }
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargestAnswer);
    const std::string trouble = stream_->exchange(request, parser, left());
    if (trouble.empty())
      return Answer{static_cast<int>(parser.get().result_int()), std::move(parser.get().body())};
    // A connection that had been idle may have been closed by the server: that says nothing yet.
    if (!reused || trouble == kNoAnswer) return {Errc::io, trouble};
  }
}

}  // namespace starling
