// SPDX-License-Identifier: Apache-2.0
#include "interference/profile/steps/exchange.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace starling {
namespace {

Error refused(const char* what) {
  return {Errc::io, std::string("loopback TCP: ") + what + ": " + std::strerror(errno)};
}

bool prepare(int socket, std::uint32_t bytes_per_s) {
  const int on = 1;
  return ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0 &&
         ::setsockopt(socket, SOL_SOCKET, SO_MAX_PACING_RATE, &bytes_per_s, sizeof bytes_per_s) ==
             0 &&
         ::fcntl(socket, F_SETFL, O_NONBLOCK) == 0;
}

bool later() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

Exchange::~Exchange() {
  if (socket_ >= 0) ::close(socket_);
}

bool Exchange::average(std::span<float> gradients) {
  theirs_.resize(gradients.size());
  const auto out = std::as_bytes(gradients);
  const auto in = std::as_writable_bytes(std::span(theirs_));
  std::size_t sent = 0, received = 0;
  while (sent < out.size() || received < in.size()) {
    const short wanted =
        static_cast<short>((sent < out.size() ? POLLOUT : 0) | (received < in.size() ? POLLIN : 0));
    pollfd ready{socket_, wanted, 0};
    if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return false;
    if (sent < out.size()) {
      const ssize_t n = ::send(socket_, out.data() + sent, out.size() - sent, MSG_NOSIGNAL);
      if (n < 0 && !later()) return false;
      if (n > 0) sent += static_cast<std::size_t>(n);
    }
    if (received < in.size()) {
      const ssize_t n = ::recv(socket_, in.data() + received, in.size() - received, 0);
      if (n == 0 || (n < 0 && !later())) return false;
      if (n > 0) received += static_cast<std::size_t>(n);
    }
  }
  for (std::size_t i = 0; i < gradients.size(); ++i) gradients[i] = (gradients[i] + theirs_[i]) / 2;
  return true;
}

Result<std::pair<Exchange, Exchange>> loopback_exchange(std::uint32_t bytes_per_s) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  const int door = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const Exchange closes_door(door);
  if (door < 0 || ::bind(door, any, size) != 0 || ::listen(door, 1) != 0 ||
      ::getsockname(door, any, &size) != 0)
    return refused("cannot listen");
  const int first = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Exchange one(first);
  if (first < 0 || ::connect(first, any, size) != 0) return refused("cannot connect");
  const int second = ::accept4(door, nullptr, nullptr, SOCK_CLOEXEC);
  Exchange two(second);
  if (second < 0 || !prepare(first, bytes_per_s) || !prepare(second, bytes_per_s))
    return refused("cannot set the connection up");
  return std::pair<Exchange, Exchange>{std::move(one), std::move(two)};
}

}  // namespace starling
