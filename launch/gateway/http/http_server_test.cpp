// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/http/http_server.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "launch/system/signals.h"

namespace starling {
namespace {

/// A server of its own in a thread, for one test; it answers with what it was asked.
class ServerInThread {
 public:
  explicit ServerInThread(const HttpBounds& bounds)
      : server_(bounds, [this](const HttpRequest& request, const HttpReply& reply) {
          HttpAnswer answer{200, "text/plain",
                            request.method + " " + request.target + " " + request.body};
          if (request.target == "/silent")
            kept_ = answer.stream = std::make_shared<ByteStream>(1U << 20U);
          if (request.target == "/stream") {
            answer.stream = std::make_shared<ByteStream>(1U << 20U);
            std::thread([stream = answer.stream] {
              for (const char* piece : {"one,", "two,", "three"}) stream->push(std::string(piece));
              stream->close();
            }).detach();
          }
          reply(std::move(answer));
        }) {
    HttpPlaces places;
    places.listen = "127.0.0.1:0";
    REQUIRE(server_.listen(places).ok());
    thread_ = std::thread([this] { server_.run([] {}); });
  }
  ~ServerInThread() {
    request_stop();
    thread_.join();
    (void)take_stop();
  }
  /// All that is answered to `text` until the server closes, or says nothing for so long.
  [[nodiscard]] std::string answer(const std::string& text, int patience_ms = 1500) const {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(server_.port());
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
    const timeval patience{patience_ms / 1000, patience_ms % 1000 * 1000};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)::send(socket, text.data(), text.size(), MSG_NOSIGNAL);
    std::string all;
    char part[4096];
    for (ssize_t n = 0; (n = ::recv(socket, part, sizeof part, 0)) > 0;)
      all.append(part, static_cast<std::size_t>(n));
    ::close(socket);
    return all;
  }

  /// The last one that was asked for at /silent.
  [[nodiscard]] const ByteStream& silent() const { return *kept_; }

 private:
  std::shared_ptr<ByteStream> kept_;
  HttpServer server_;
  std::thread thread_;
};

std::size_t times_in(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

TEST_CASE("requests of one connection are answered in their order; HEAD without a body") {
  const ServerInThread server({});
  const std::string all = server.answer(
      "GET /a HTTP/1.1\r\nHost: x\r\n\r\nPOST /b HTTP/1.1\r\nHost: x\r\nContent-Length: "
      "3\r\n\r\nabc"
      "HEAD /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  CHECK(times_in(all, "HTTP/1.1 200 OK") == 3);
  CHECK(all.find("GET /a ") < all.find("POST /b abc"));
  CHECK(all.find("HEAD /c ") == std::string::npos);
  CHECK(times_in(all, "Content-Security-Policy:") == 3);
}

TEST_CASE("what is too large, too slow or no HTTP gets one answer and no second chance") {
  HttpBounds bounds;
  bounds.body_bytes = 100;
  bounds.header_bytes = 1000;
  bounds.to_send = std::chrono::seconds(1);
  const ServerInThread server(bounds);
  const auto refused = [&](const std::string& text, const std::string& status) {
    const std::string all = server.answer(text, 5000);
    CHECK_MESSAGE(all.starts_with("HTTP/1.1 " + status), text.substr(0, 60) << " -> " << all);
    CHECK(times_in(all, "HTTP/1.1 ") == 1);
    CHECK(all.find("Connection: close") != std::string::npos);
  };
  refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n" + std::string(101, 'x'),
          "413");
  refused("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999\r\n\r\n", "413");
  refused("GET / HTTP/1.1\r\nHost: x\r\nX: " + std::string(2000, 'x') + "\r\n\r\n", "431");
  refused("nonsense\r\n\r\n", "400");
  refused("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", "400");
  // A proxy before this server may read them in another way, and a second request be hidden.
  for (const char* coding :
       {"gzip", "xchunked", "chunked, identity", "identity\r\nTransfer-Encoding: chunked"})
    refused("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + std::string(coding) +
                "\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\n\r\n",
            "400");
  // Who does not come to an end is left without a word.
  const auto begun = std::chrono::steady_clock::now();
  CHECK(server.answer("GET / HTTP/1.1\r\nHo", 20'000).empty());
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(15));
}

TEST_CASE("a client that asks whether to send its body is told to, and a chunked one is read") {
  const ServerInThread server({});
  const std::string all = server.answer(
      "POST /a HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n");
  CHECK(all == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(server
            .answer("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n"
                    "3\r\nabc\r\n0\r\n\r\n")
            .find("POST /a abc") != std::string::npos);
}

TEST_CASE("a stream goes on until it is closed, in chunks that can be told from a break") {
  const ServerInThread server({});
  const std::string all = server.answer("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(all.find("Transfer-Encoding: chunked") != std::string::npos);
  CHECK(all.find("one,") < all.find("three"));
  CHECK(all.ends_with("0\r\n\r\n"));
  const std::string old = server.answer("GET /stream HTTP/1.0\r\n\r\n");
  CHECK(old.ends_with("one,two,three"));
}

TEST_CASE("a client that goes away from a stream that says nothing is noticed") {
  const ServerInThread server({});
  CHECK(server.answer("GET /silent HTTP/1.1\r\nHost: x\r\n\r\n", 100).find(" 200 ") !=
        std::string::npos);
  for (int i = 0; i < 200 && !server.silent().closed(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  CHECK(server.silent().closed());
}

TEST_CASE("connections beyond the bound are closed, and cost those before them nothing") {
  HttpBounds bounds;
  bounds.connections = 0;
  const ServerInThread server(bounds);
  CHECK(server.answer("GET / HTTP/1.1\r\nHost: x\r\n\r\n").empty());
}

TEST_CASE("where to listen") {
  CHECK(parse_listen("[::1]:80").value().host == "::1");
  CHECK(parse_listen("0.0.0.0:0").value().port == 0);
  for (const char* wrong : {"", ":80", "host", "host:", "host:65536", "host:-1", "host:x"})
    CHECK_FALSE(parse_listen(wrong));
  CHECK(is_loopback("127.0.0.1"));
  CHECK(is_loopback("::1"));
  CHECK_FALSE(is_loopback("0.0.0.0"));
  CHECK_FALSE(is_loopback("example.org"));
}

}  // namespace
}  // namespace starling
