#include "store/http_connection.h"

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <utility>

namespace starling {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

/// No answer of a store that pages its reads comes near it.
constexpr std::uint64_t kLargestAnswer = 256ULL << 20U;

}  // namespace

struct HttpConnection::Stream {
  /// Takes file descriptors of its own, so there may be none left for it.
  struct Machinery {
    asio::io_context io;
    beast::tcp_stream tcp{io};
  };
  std::string host, port, name;
  std::unique_ptr<Machinery> machinery;  // from the first connection on
  beast::flat_buffer buffer;
  bool open = false;

  /// Runs what was just begun to its end, which the stream's timer bounds.
  void run() {
    machinery->io.restart();
    machinery->io.run();
  }
  error_code connect(std::chrono::milliseconds patience) {
    close();
    error_code result;
    try {
      if (!machinery) machinery = std::make_unique<Machinery>();
      asio::ip::tcp::resolver resolver(machinery->io);
      const auto found = resolver.resolve(host, port, result);
      if (result) return result;
      beast::tcp_stream& tcp = machinery->tcp;
      tcp.expires_after(patience);
      tcp.async_connect(found, [&](error_code e, const asio::ip::tcp::endpoint&) { result = e; });
      run();
      if (!result) tcp.socket().set_option(asio::ip::tcp::no_delay(true), result);
    } catch (const boost::system::system_error& refused) {
      return refused.code();
    }
    open = !result;
    return result;
  }
  void close() {
    if (machinery) machinery->tcp.close();
    buffer.clear();
    open = false;
  }
  error_code exchange(const http::request<http::string_body>& request,
                      http::response_parser<http::string_body>& parser,
                      std::chrono::milliseconds patience) {
    error_code result;
    beast::tcp_stream& tcp = machinery->tcp;
    tcp.expires_after(patience);
    http::async_write(tcp, request, [&](error_code written, std::size_t) {
      result = written;
      if (written) return;
      http::async_read(tcp, buffer, parser, [&](error_code read, std::size_t) { result = read; });
    });
    run();
    if (result || !parser.get().keep_alive()) close();
    return result;
  }
};

HttpConnection::HttpConnection(std::string host, std::string port)
    : stream_(std::make_unique<Stream>()) {
  stream_->name = host + ":" + port;
  stream_->host = std::move(host);
  stream_->port = std::move(port);
}
HttpConnection::~HttpConnection() = default;
HttpConnection::HttpConnection(HttpConnection&&) noexcept = default;
HttpConnection& HttpConnection::operator=(HttpConnection&&) noexcept = default;

const std::string& HttpConnection::name() const noexcept { return stream_->name; }

Result<HttpConnection::Answer> HttpConnection::post(const std::string& path,
                                                    const std::string& body,
                                                    std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  const auto left = [&] {
    return std::max(std::chrono::milliseconds(1),
                    std::chrono::duration_cast<std::chrono::milliseconds>(
                        until - std::chrono::steady_clock::now()));
  };
  http::request<http::string_body> request(http::verb::post, path, 11);
  request.set(http::field::host, stream_->name);
  request.set(http::field::content_type, "application/json");
  request.keep_alive(true);
  request.body() = body;
  request.prepare_payload();
  for (;;) {
    const bool reused = stream_->open;
    if (!reused) {
      if (const auto refused = stream_->connect(left()))
        return {Errc::io, "cannot connect: " + refused.message()};
    }
    http::response_parser<http::string_body> parser;
    parser.body_limit(kLargestAnswer);
    const error_code result = stream_->exchange(request, parser, left());
    if (!result) return Answer{static_cast<int>(parser.get().result_int()), parser.get().body()};
    if (result == beast::error::timeout) return {Errc::io, "no answer"};
    // A connection that had been idle may have been closed by the server: that says nothing yet.
    if (!reused) return {Errc::io, "the connection broke: " + result.message()};
  }
}

}  // namespace starling
