// SPDX-License-Identifier: Apache-2.0
#pragma once

// clang-format off: Boost 1.74's <boost/asio/awaitable.hpp> needs <utility> and does not say so.
#include <utility>
// clang-format on
#include <boost/asio/awaitable.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "launch/gateway/http/http_server.h"

namespace starling {

// How one connection is served, whatever it goes over. For http_server.cpp alone.

namespace beast_http = boost::beast::http;

/// What is at the other end.
struct HttpPeer {
  std::string address;
  std::optional<uid_t> uid = {};
};

/// A place where a coroutine waits for another thread to say something.
class HttpWait {
 public:
  using Timer = boost::asio::steady_timer;
  explicit HttpWait(const Timer::executor_type& executor)
      : timer_(executor, Timer::time_point::max()) {}
  /// In the server's thread.
  void wake() {
    said_ = true;
    timer_.cancel();
  }
  /// For `most` at most. False: nothing was said.
  boost::asio::awaitable<bool> wait(std::optional<Timer::duration> most = {}) {
    boost::system::error_code ignored;
    if (!said_) {
      if (most) timer_.expires_after(*most);
      co_await timer_.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, ignored));
    }
    timer_.expires_at(Timer::time_point::max());
    co_return std::exchange(said_, false);
  }

 private:
  Timer timer_;
  bool said_ = false;
};

[[nodiscard]] HttpRequest request_of(const beast_http::request<beast_http::string_body>& message,
                                     const HttpPeer& peer);
/// The heading of every answer.
void set_heading(beast_http::fields& fields, const HttpAnswer& answer);
/// Whether where its body ends is said in the one way that all before us on the way understand as
/// we do. Any other could hide a second request behind the first.
[[nodiscard]] bool ends_plainly(const beast_http::fields& heading);
/// The peer of `socket` sends nothing more: it is gone, or as good as that.
[[nodiscard]] bool has_hung_up(int socket);
/// The answer to what could not be read; nothing: the peer is gone.
[[nodiscard]] std::optional<HttpAnswer> answer_to_broken(boost::system::error_code error);

/// The replies of one request, awaited.
inline boost::asio::awaitable<HttpAnswer> replied(const HttpServer::Handle& handle,
                                                  HttpRequest request,
                                                  HttpWait::Timer::executor_type executor) {
  struct Shared {
    explicit Shared(const HttpWait::Timer::executor_type& e) : wait(e) {}
    HttpWait wait;
    std::optional<HttpAnswer> answer;
  };
  auto shared = std::make_shared<Shared>(executor);
  handle(std::move(request), [shared, executor](HttpAnswer answer) {
    boost::asio::post(executor, [shared, answer = std::move(answer)]() mutable {
      shared->answer = std::move(answer);
      shared->wait.wake();
    });
  });
  while (!shared->answer) co_await shared->wait.wait();
  co_return *std::move(shared->answer);
}

constexpr std::chrono::seconds kPollPeer{2};

template <class Stream>
class WebConnection {
 public:
  WebConnection(Stream& stream, const HttpBounds& bounds, const HttpServer::Handle& handle,
                HttpPeer peer)
      : stream_(stream), bounds_(bounds), handle_(handle), peer_(std::move(peer)) {}

  boost::asio::awaitable<void> serve() {
    boost::system::error_code error;
    for (;;) {
      Parser parser;
      parser.header_limit(bounds_.header_bytes);
      parser.body_limit(bounds_.body_bytes);
      if (buffer_.size() == 0) {
        boost::beast::get_lowest_layer(stream_).expires_after(bounds_.idle);
        char first = 0;
        const auto n = co_await stream_.async_read_some(
            boost::asio::buffer(&first, 1),
            boost::asio::redirect_error(boost::asio::use_awaitable, error));
        if (error || n == 0) co_return;
        boost::asio::buffer_copy(buffer_.prepare(1), boost::asio::buffer(&first, 1));
        buffer_.commit(1);
      }
      if (auto wrong = co_await read(parser, error)) {
        wrong->headers.emplace_back("Connection", "close");
        (void)co_await write(*wrong, false, false, 11);
        co_return;
      }
      if (error) co_return;
      const auto message = parser.release();
      const bool keep = message.keep_alive(), head = message.method() == beast_http::verb::head;
      // While the answer is made nothing is read or written, and so nothing can be late.
      boost::beast::get_lowest_layer(stream_).expires_never();
      const HttpAnswer answer =
          co_await replied(handle_, request_of(message, peer_), stream_.get_executor());
      if (answer.stream != nullptr && !head) {
        co_await write_stream(answer, message.version());
        co_return;
      }
      if (answer.stream != nullptr) answer.stream->abandon();
      if (!co_await write(answer, head, keep, message.version()) || !keep) co_return;
    }
  }

 private:
  using Parser = beast_http::request_parser<beast_http::string_body>;

  /// What to answer to a request that is none; `error`: there is none.
  boost::asio::awaitable<std::optional<HttpAnswer>> read(Parser& parser,
                                                         boost::system::error_code& error) {
    boost::beast::get_lowest_layer(stream_).expires_after(bounds_.to_send);
    co_await beast_http::async_read_header(
        stream_, buffer_, parser, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    if (!error && !ends_plainly(parser.get()))
      co_return http_error(400, "invalid", "Transfer-Encoding: only 'chunked', once, is read");
    if (!error && !parser.is_done()) {
      if (boost::beast::iequals(parser.get()[beast_http::field::expect], "100-continue")) {
        static const std::string go_on = "HTTP/1.1 100 Continue\r\n\r\n";
        co_await boost::asio::async_write(
            stream_, boost::asio::buffer(go_on),
            boost::asio::redirect_error(boost::asio::use_awaitable, error));
      }
      if (!error) {
        co_await beast_http::async_read(
            stream_, buffer_, parser,
            boost::asio::redirect_error(boost::asio::use_awaitable, error));
      }
    }
    if (error) co_return answer_to_broken(error);
    co_return std::nullopt;
  }

  boost::asio::awaitable<bool> write(const HttpAnswer& answer, bool head, bool keep,
                                     unsigned version) {
    beast_http::response<beast_http::string_body> message(
        static_cast<beast_http::status>(answer.status), version);
    set_heading(message, answer);
    message.keep_alive(keep);
    message.content_length(answer.body.size());
    boost::system::error_code error;
    boost::beast::get_lowest_layer(stream_).expires_after(bounds_.to_send);
    if (head) {
      beast_http::response_serializer<beast_http::string_body> serializer(message);
      co_await beast_http::async_write_header(
          stream_, serializer, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    } else {
      message.body() = answer.body;
      co_await beast_http::async_write(
          stream_, message, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    }
    co_return !error;
  }

  /// Piece by piece, until it is closed or the reader is gone. Nothing follows on this connection.
  boost::asio::awaitable<void> write_stream(const HttpAnswer& answer, unsigned version) {
    const std::shared_ptr<ByteStream> from = answer.stream;
    const auto executor = stream_.get_executor();
    auto wait = std::make_shared<HttpWait>(executor);
    from->on_change([weak = std::weak_ptr<HttpWait>(wait), executor] {
      boost::asio::post(executor, [weak] {
        if (const auto here = weak.lock()) here->wake();
      });
    });
    const bool chunked = version >= 11;
    beast_http::response<beast_http::empty_body> heading(
        static_cast<beast_http::status>(answer.status), version);
    set_heading(heading, answer);
    heading.keep_alive(false);
    heading.chunked(chunked);
    beast_http::response_serializer<beast_http::empty_body> serializer(heading);
    boost::system::error_code error;
    boost::beast::get_lowest_layer(stream_).expires_after(bounds_.to_send);
    co_await beast_http::async_write_header(
        stream_, serializer, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    while (!error) {
      auto taken = from->take();
      for (auto piece = taken.pieces.begin(); piece != taken.pieces.end() && !error; ++piece)
        co_await write_piece(**piece, chunked, error);
      if (taken.over || error) break;
      auto& lowest = boost::beast::get_lowest_layer(stream_);
      lowest.expires_never();
      // A client that is gone while nothing is to be said would keep its place until something is.
      if (!co_await wait->wait(kPollPeer) && has_hung_up(lowest.socket().native_handle())) break;
    }
    from->abandon();
    if (!error && chunked) {
      co_await boost::asio::async_write(
          stream_, beast_http::make_chunk_last(),
          boost::asio::redirect_error(boost::asio::use_awaitable, error));
    }
  }

  boost::asio::awaitable<void> write_piece(const std::string& piece, bool chunked,
                                           boost::system::error_code& error) {
    if (piece.empty()) co_return;
    boost::beast::get_lowest_layer(stream_).expires_after(bounds_.to_send);
    const auto bytes = boost::asio::buffer(piece);
    if (chunked) {
      co_await boost::asio::async_write(
          stream_, beast_http::make_chunk(bytes),
          boost::asio::redirect_error(boost::asio::use_awaitable, error));
    } else {
      co_await boost::asio::async_write(
          stream_, bytes, boost::asio::redirect_error(boost::asio::use_awaitable, error));
    }
  }

  Stream& stream_;
  const HttpBounds& bounds_;
  const HttpServer::Handle& handle_;
  HttpPeer peer_;
  boost::beast::flat_buffer buffer_{65'536};
};

}  // namespace starling
