// SPDX-License-Identifier: Apache-2.0
#include "launch/chaos/machine/link_proxies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "base/rng.h"

namespace starling::chaos_live {
namespace {

using Wall = std::chrono::steady_clock;
using Time = Wall::time_point;

constexpr std::size_t kPiece = 32 * 1024;
constexpr std::size_t kMostWaiting = 512 * 1024;  // then the sender waits

Wall::duration span(double seconds) {
  return std::chrono::duration_cast<Wall::duration>(std::chrono::duration<double>(seconds));
}

struct Piece {
  Time due;
  std::vector<char> bytes;
  std::size_t sent = 0;
};

/// Bytes on their way from one of the two sockets to the other.
struct Way {
  std::deque<Piece> pieces;
  std::size_t waiting = 0;
  Time last{};   // no piece is due before the one ahead of it
  Time spent{};  // with a bound on bytes: when the next may go
};

struct Connection {
  std::size_t link = 0;
  int fd[2] = {-1, -1};  // who called, who is called
  std::uint32_t events[2] = {0, 0};
  Way way[2];  // from fd[i] to fd[1 - i]
};

struct Link {
  int listener = -1;
  sockaddr_in target{};
  LinkFaults faults;
};

}  // namespace

struct LinkProxies::Loop {
  explicit Loop(std::uint64_t seed) : rng(seed) {
    poll_fd = epoll_create1(EPOLL_CLOEXEC);
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    watch(wake_fd, EPOLLIN, kWake, EPOLL_CTL_ADD);
  }
  ~Loop() {
    stop = true;
    wake();
    if (thread.joinable()) thread.join();
    for (auto& [id, c] : connections) ::close(c.fd[0]), ::close(c.fd[1]);
    for (const Link& link : links) ::close(link.listener);
    ::close(poll_fd);
    ::close(wake_fd);
  }

  static constexpr std::uint64_t kWake = ~std::uint64_t{0};
  static constexpr std::uint64_t kListener = std::uint64_t{1} << 62U;

  void watch(int fd, std::uint32_t events, std::uint64_t tag, int how) const {
    epoll_event event{};
    event.events = events;
    event.data.u64 = tag;
    epoll_ctl(poll_fd, how, fd, &event);
  }
  void wake() const {
    const std::uint64_t one = 1;
    const auto ignored = ::write(wake_fd, &one, sizeof one);
    (void)ignored;
  }

  void accept_one(std::size_t link) {
    const int caller =
        accept4(links[link].listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (caller < 0) return;
    const int called = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const auto* to = reinterpret_cast<const sockaddr*>(&links[link].target);
    if (called < 0 ||
        (connect(called, to, sizeof links[link].target) != 0 && errno != EINPROGRESS)) {
      ::close(caller);
      if (called >= 0) ::close(called);
      return;
    }
    const int one = 1;
    setsockopt(caller, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(called, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    const std::uint64_t id = next_id++;
    Connection& c = connections[id];
    c.link = link;
    c.fd[0] = caller, c.fd[1] = called;
    ++counters.connections;
    for (int i = 0; i < 2; ++i) watch(c.fd[i], 0, id * 2 + static_cast<unsigned>(i), EPOLL_CTL_ADD);
    arm(id, c);
  }

  /// Asks for the events that it can do something with now.
  void arm(std::uint64_t id, Connection& c) {
    const LinkFaults& faults = links[c.link].faults;
    const Time now = Wall::now();
    for (unsigned i = 0; i < 2; ++i) {
      std::uint32_t events = EPOLLRDHUP;
      const Way& in = c.way[i];
      const Way& out = c.way[1 - i];
      if (faults.cuts == 0 && in.waiting < kMostWaiting) events |= EPOLLIN;
      if (faults.cuts == 0 && !out.pieces.empty() && out.pieces.front().due <= now)
        events |= EPOLLOUT;
      if (events == c.events[i]) continue;
      c.events[i] = events;
      watch(c.fd[i], events, id * 2 + i, EPOLL_CTL_MOD);
    }
  }

  void drop(std::uint64_t id) {
    const auto it = connections.find(id);
    if (it == connections.end()) return;
    ::close(it->second.fd[0]);
    ::close(it->second.fd[1]);
    connections.erase(it);
    ++counters.closed;
  }

  /// False: the connection is over.
  bool take_in(Connection& c, unsigned side) {
    const LinkFaults& faults = links[c.link].faults;
    Way& way = c.way[side];
    std::array<char, kPiece> buffer;
    const ssize_t size = ::recv(c.fd[side], buffer.data(), buffer.size(), 0);
    if (size == 0) return false;
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    const auto bytes = static_cast<std::size_t>(size);
    if (faults.corrupt > 0 && rng.chance(faults.corrupt)) {
      buffer[rng.below(static_cast<std::uint32_t>(bytes))] ^= static_cast<char>(1 << rng.below(8));
      ++counters.corrupted;
    }
    Time due = Wall::now() + span(faults.delay_s + faults.jitter_s * rng.uniform());
    if (faults.bytes_per_s > 0) {
      way.spent =
          std::max(way.spent, Wall::now()) + span(static_cast<double>(bytes) / faults.bytes_per_s);
      due = std::max(due, way.spent);
    }
    due = way.last = std::max(due, way.last);
    way.pieces.push_back({due, {buffer.data(), buffer.data() + bytes}, 0});
    way.waiting += bytes;
    counters.bytes += bytes;
    return true;
  }

  bool give_out(Connection& c, unsigned side) {
    if (links[c.link].faults.cuts > 0) return true;
    Way& way = c.way[1 - side];
    const Time now = Wall::now();
    while (!way.pieces.empty() && way.pieces.front().due <= now) {
      Piece& piece = way.pieces.front();
      const ssize_t sent = ::send(c.fd[side], piece.bytes.data() + piece.sent,
                                  piece.bytes.size() - piece.sent, MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN || errno == EINTR || errno == ENOTCONN;
      piece.sent += static_cast<std::size_t>(sent);
      if (piece.sent < piece.bytes.size()) return true;
      way.waiting -= piece.bytes.size();
      way.pieces.pop_front();
    }
    return true;
  }

  void on(const epoll_event& event) {
    const std::uint64_t tag = event.data.u64;
    if (tag == kWake) {
      std::uint64_t ignored = 0;
      while (::read(wake_fd, &ignored, sizeof ignored) > 0) {
      }
      for (auto& [id, c] : connections) arm(id, c);
      return;
    }
    if (tag >= kListener) return accept_one(static_cast<std::size_t>(tag - kListener));
    const std::uint64_t id = tag / 2;
    const auto side = static_cast<unsigned>(tag % 2);
    const auto it = connections.find(id);
    if (it == connections.end()) return;
    Connection& c = it->second;
    bool lives = (event.events & (EPOLLERR | EPOLLHUP)) == 0;
    const bool cut = links[c.link].faults.cuts > 0;
    if (lives && !cut && (event.events & EPOLLIN) != 0)
      lives = take_in(c, side) && give_out(c, 1 - side);
    else if (lives && (event.events & EPOLLRDHUP) != 0)
      lives = false;
    if (lives && (event.events & EPOLLOUT) != 0) lives = give_out(c, side);
    lives ? arm(id, c) : drop(id);
  }

  /// Passes on what has become due, closes what is to be closed; when to look again.
  int look(Time& closing) {
    const Time now = Wall::now();
    Time next = now + std::chrono::milliseconds(200);
    const double since = std::chrono::duration<double>(now - closing).count();
    closing = now;
    std::vector<std::uint64_t> over;
    for (auto& [id, c] : connections) {
      const LinkFaults& faults = links[c.link].faults;
      if (faults.closes_per_s > 0) {
        next = std::min(next, now + std::chrono::milliseconds(20));
        if (rng.chance(std::min(1.0, faults.closes_per_s * since))) {
          over.push_back(id);
          continue;
        }
      }
      if (faults.cuts > 0) continue;
      bool lives = true;
      for (unsigned side = 0; side < 2 && lives; ++side) {
        Way& way = c.way[1 - side];
        if (way.pieces.empty()) continue;
        if (way.pieces.front().due <= now) lives = give_out(c, side);
        if (!way.pieces.empty() && way.pieces.front().due > now)
          next = std::min(next, way.pieces.front().due);
      }
      lives ? arm(id, c) : over.push_back(id);
    }
    for (const std::uint64_t id : over) drop(id);
    return static_cast<int>(
        std::chrono::duration_cast<std::chrono::milliseconds>(next - now).count() + 1);
  }

  void run() {
    std::array<epoll_event, 256> events;
    Time closing = Wall::now();
    while (!stop) {
      int wait = 0;
      {
        const std::lock_guard lock(mutex);
        wait = look(closing);
      }
      const int n = epoll_wait(poll_fd, events.data(), events.size(), wait);
      const std::lock_guard lock(mutex);
      for (int i = 0; i < n; ++i) on(events[static_cast<std::size_t>(i)]);
    }
  }

  Rng rng;
  int poll_fd = -1, wake_fd = -1;
  std::mutex mutex;
  std::vector<Link> links;
  std::map<std::uint64_t, Connection> connections;
  std::uint64_t next_id = 1;
  LinkCounters counters;
  std::atomic<bool> stop{false};
  std::thread thread;
};

LinkProxies::LinkProxies(std::uint64_t seed) : loop_(std::make_unique<Loop>(seed)) {}
LinkProxies::~LinkProxies() = default;

Result<std::uint16_t> LinkProxies::add(const std::string& listen_host, const std::string& host,
                                       std::uint16_t port) {
  Link link;
  sockaddr_in here{};
  here.sin_family = link.target.sin_family = AF_INET;
  link.target.sin_port = htons(port);
  if (inet_pton(AF_INET, listen_host.c_str(), &here.sin_addr) != 1 ||
      inet_pton(AF_INET, host.c_str(), &link.target.sin_addr) != 1)
    return {Errc::invalid, "links lead to IPv4 addresses, not to " + host};
  link.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  socklen_t size = sizeof here;
  if (link.listener < 0 ||
      bind(link.listener, reinterpret_cast<const sockaddr*>(&here), sizeof here) != 0 ||
      listen(link.listener, 64) != 0 ||
      getsockname(link.listener, reinterpret_cast<sockaddr*>(&here), &size) != 0) {
    const int why = errno;
    if (link.listener >= 0) ::close(link.listener);
    return {Errc::io, "a link cannot listen at " + listen_host + ": " + std::strerror(why)};
  }
  loop_->watch(link.listener, EPOLLIN, Loop::kListener + loop_->links.size(), EPOLL_CTL_ADD);
  loop_->links.push_back(link);
  return ntohs(here.sin_port);
}

void LinkProxies::start() {
  // Signals are the main thread's.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  loop_->thread = std::thread([loop = loop_.get()] { loop->run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void LinkProxies::set(std::size_t link, const LinkFaults& faults) {
  {
    const std::lock_guard lock(loop_->mutex);
    loop_->links.at(link).faults = faults;
  }
  loop_->wake();
}

const LinkCounters& LinkProxies::counters() const noexcept { return loop_->counters; }

}  // namespace starling::chaos_live
