// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "launch/chaos/flock/injector.h"

namespace starling::chaos_live {
namespace {

constexpr std::size_t kMostStrangers = 64;

/// A connection on which nothing makes sense, or that begins like ZMTP and goes on so.
int stranger(const LiveFlock::Process& whom, Rng& rng) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(whom.port);
  inet_pton(AF_INET, whom.host.c_str(), &to.sin_addr);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 && errno != EINPROGRESS) {
    close(fd);
    return -1;
  }
  std::array<unsigned char, 2048> bytes{};
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(rng.next());
  if (rng.chance(0.5)) {  // a greeting of ZMTP 3.0 that offers CURVE
    constexpr std::array<unsigned char, 17> kGreeting{0xff, 0, 0, 0,   0,   0,   0,   0,  1,
                                                      0x7f, 3, 0, 'C', 'U', 'R', 'V', 'E'};
    std::copy(kGreeting.begin(), kGreeting.end(), bytes.begin());
    std::fill(bytes.begin() + 17, bytes.begin() + 64, static_cast<unsigned char>(0));
  }
  const auto ignored = send(fd, bytes.data(), 1 + rng.below(bytes.size()), MSG_NOSIGNAL);
  (void)ignored;
  return fd;
}

}  // namespace

void Injector::throw_garbage(double now) {
  for (Garbage& g : garbage_) {
    for (int burst = 0; g.due <= now && burst < 50; ++burst) {
      g.due += 1 / g.per_s;
      if (g.whom->pid == 0) continue;
      if (const int fd = stranger(*g.whom, noise_); fd >= 0) strangers_.push_back(fd);
    }
  }
  const std::size_t keep = garbage_.empty() ? 0 : kMostStrangers;
  while (strangers_.size() > keep) {
    close(strangers_.front());
    strangers_.erase(strangers_.begin());
  }
}

Injector::~Injector() {
  for (const int fd : strangers_) close(fd);
}

}  // namespace starling::chaos_live
