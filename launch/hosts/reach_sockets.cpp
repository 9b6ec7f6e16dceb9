// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>

#include "launch/hosts/reach.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

constexpr int kPatience_ms = 2000;

std::optional<sockaddr_in> parsed(const std::string& place) {
  const auto colon = place.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const auto port = parse_whole(place.substr(colon + 1));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (!port || *port == 0 || *port > 65'535) return std::nullopt;
  address.sin_port = htons(static_cast<std::uint16_t>(*port));
  if (inet_pton(AF_INET, place.substr(0, colon).c_str(), &address.sin_addr) != 1)
    return std::nullopt;
  return address;
}

/// 0, or why not.
int connect_error(const sockaddr_in& address) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return errno;
  int why =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ? 0 : errno;
  if (why == EINPROGRESS) {
    pollfd waiting{fd, POLLOUT, 0};
    socklen_t size = sizeof why;
    if (poll(&waiting, 1, kPatience_ms) == 0)
      why = ETIMEDOUT;
    else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size) != 0)
      why = errno;
  }
  close(fd);
  return why;
}

}  // namespace

Status reach_all(const std::vector<std::string>& places) {
  for (const std::string& place : places) {
    const auto address = parsed(place);
    if (!address) return {Errc::invalid, "'" + place + "' is not as 10.0.0.1:20000"};
    if (const int why = connect_error(*address); why != 0) {
      return {Errc::io, "cannot reach " + place + ": " + std::strerror(why) +
                            "; TCP ports 20000 to 31999 must be open between the hosts"};
    }
  }
  return done();
}

Status listen_all(const std::vector<std::string>& places) {
  std::vector<pollfd> fds{{STDIN_FILENO, POLLIN, 0}};
  Status status = done();
  for (const std::string& place : places) {
    const auto address = parsed(place);
    const int fd = address ? socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) : -1;
    if (fd >= 0) fds.push_back({fd, POLLIN, 0});
    const int on = 1;
    if (fd >= 0) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0 ||
        listen(fd, 64) != 0) {
      status = {Errc::io, "cannot listen at " + place + ": " +
                              (address ? std::strerror(errno) : "not as 10.0.0.1:20000")};
      break;
    }
  }
  if (status.ok()) {
    std::puts("listening");
    std::fflush(stdout);
  }
  while (status.ok() && !stop_requested()) {
    if (poll(fds.data(), fds.size(), 500) <= 0) continue;
    char byte = 0;
    if (fds[0].revents != 0 && read(STDIN_FILENO, &byte, 1) <= 0) break;
    for (std::size_t i = 1; i < fds.size(); ++i) {
      const int peer = fds[i].revents != 0 ? accept(fds[i].fd, nullptr, nullptr) : -1;
      if (peer >= 0) close(peer);
    }
  }
  for (std::size_t i = 1; i < fds.size(); ++i) close(fds[i].fd);
  return status;
}

}  // namespace starling
