// SPDX-License-Identifier: Apache-2.0
#include "bus/zap.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "bus/despite_signals.h"
#include "bus/keys.h"

namespace starling {
namespace {

/// Where a process of this host reaches what is bound to `address`.
std::string from_here(std::string address) {
  for (const std::string any : {"tcp://0.0.0.0:", "tcp://[::]:"}) {
    if (address.starts_with(any)) return "tcp://127.0.0.1:" + address.substr(any.size());
  }
  return address;
}

}  // namespace

ZapHandler::ZapHandler(zmq::context_t& context, std::map<std::string, std::string> allowed)
    : allowed_(std::move(allowed)), socket_(context, zmq::socket_type::rep) {
  socket_.set(zmq::sockopt::linger, 0);
  socket_.bind("inproc://zeromq.zap.01");
  thread_ = std::thread([this] { serve(); });
}

ZapHandler::~ZapHandler() {
  over_ = true;
  thread_.join();
}

void ZapHandler::allow(std::map<std::string, std::string> allowed) {
  const std::lock_guard lock(mutex_);
  allowed_ = std::move(allowed);
}

void ZapHandler::serve() {
  for (;;) {
    try {
      answer();
    } catch (const zmq::error_t& e) {
      // Where memory is short, making the exception has written over the error's number.
      if (e.num() == ETERM || over_) break;  // EINTR and the like: ask again
    }
  }
  socket_.close();
}

/// RFC 27: version, request id, domain, address, identity, mechanism, credentials...
void ZapHandler::answer() {
  std::vector<std::string> request;
  zmq::message_t part;
  do {
    if (!socket_.recv(part)) return;
    request.emplace_back(part.data<char>(), part.size());
  } while (part.more());

  const bool sound = request.size() == 7 && request[0] == "1.0" && request[2] == kZapDomain &&
                     request[5] == "CURVE";
  std::string user;
  {
    const std::lock_guard lock(mutex_);
    const auto it = sound ? allowed_.find(request[6]) : allowed_.end();
    if (it != allowed_.end()) user = it->second;
  }
  const bool known = !user.empty();
  ++(known ? accepted_ : refused_);

  const std::string id = request.size() > 1 ? request[1] : std::string();
  const std::array<std::string, 6> reply{
      "1.0", id, known ? "200" : "400", known ? "OK" : "unknown key", user, ""};
  for (std::size_t i = 0; i < reply.size(); ++i) {
    socket_.send(zmq::buffer(reply[i]),
                 i + 1 < reply.size() ? zmq::send_flags::sndmore : zmq::send_flags::none);
  }
}

StrangerTest try_as_stranger(zmq::context_t& context, const std::string& address,
                             const std::string& server_key, std::chrono::milliseconds patience) {
  const Result<KeyPair> stranger = generate_keys();
  if (!stranger) return StrangerTest::let_in;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::curve_serverkey, server_key);
  socket.set(zmq::sockopt::curve_publickey, stranger.value().public_key);
  socket.set(zmq::sockopt::curve_secretkey, stranger.value().secret_key);

  // The name of a test that was interrupted stays taken until libzmq has closed its socket.
  static std::atomic<std::uint64_t> tests = 0;
  const std::string events = "inproc://starling.self-test." + std::to_string(++tests);
  if (zmq_socket_monitor(socket.handle(), events.c_str(),
                         ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH) != 0) {
    if (zmq_errno() == EINTR) throw zmq::error_t();  // who calls tries again
    return StrangerTest::let_in;
  }
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.set(zmq::sockopt::rcvtimeo, static_cast<int>(patience.count()));
  monitor.connect(events);
  socket.connect(from_here(address));

  // The first frame of an event is its number (16 bits) and a value; the first event decides.
  zmq::message_t event;
  std::uint16_t number = 0;
  const auto heard = despite_signals([&] { return monitor.recv(event); });
  if (heard && event.size() >= sizeof(number)) {
    std::memcpy(&number, event.data(), sizeof(number));
  }
  zmq_socket_monitor(socket.handle(), nullptr, 0);
  if (number == 0) return StrangerTest::no_answer;
  return number == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH ? StrangerTest::refused : StrangerTest::let_in;
}

}  // namespace starling
