// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/test_folder.h"
#include "store/await_epoch.h"
#include "store/etcd/etcd_authority.h"
#include "store/etcd/etcd_client.h"

namespace starling {

/// For tests: a real etcd of three members on loopback, in a folder that is gone afterwards. Its
/// members are killed, stopped and started by number.
class TestEtcd {
 public:
  static constexpr std::size_t kMembers = 3;

  /// The one of this test program, all members running; null, with a message, where none is
  /// installed.
  static TestEtcd* get() {
    static const std::unique_ptr<TestEtcd> etcd =
        std::system("command -v etcd >/dev/null 2>&1") == 0 ? std::make_unique<TestEtcd>()
                                                            : nullptr;
    if (etcd == nullptr) {
      MESSAGE("skipped: no etcd is installed; 'launch/setup --tests' installs it");
      return nullptr;
    }
    etcd->all_up();
    return etcd.get();
  }

  TestEtcd() {
    for (std::size_t i = 0; i < kMembers; ++i) {
      peer_ports_[i] = free_port();
      client_ports_[i] = free_port();
    }
    for (std::size_t i = 0; i < kMembers; ++i) start(i);
    wait_until_serving();
  }
  ~TestEtcd() {
    for (std::size_t i = 0; i < kMembers; ++i) kill(i);
  }
  TestEtcd(const TestEtcd&) = delete;
  TestEtcd& operator=(const TestEtcd&) = delete;

  /// A flock that no other test uses.
  [[nodiscard]] EtcdAddress flock(const std::string& name) const {
    EtcdAddress address;
    for (const int port : client_ports_)
      address.members.emplace_back("127.0.0.1", std::to_string(port));
    address.name = name;
    return address;
  }
  /// The address of one member only.
  [[nodiscard]] EtcdAddress only(const std::string& name, std::size_t member) const {
    EtcdAddress address = flock(name);
    address.members = {address.members[member]};
    return address;
  }

  void kill(std::size_t i) {
    if (pids_[i] == 0) return;
    ::kill(pids_[i], SIGKILL);
    ::waitpid(pids_[i], nullptr, 0);
    pids_[i] = 0;
  }
  /// Returns when the member stands still: `kill` alone only asks for it, and on a busy machine the
  /// member answers some requests more.
  void pause(std::size_t i) {
    ::kill(pids_[i], SIGSTOP);
    paused_[i] = true;
    int status = 0;
    REQUIRE(::waitpid(pids_[i], &status, WUNTRACED) == pids_[i]);
    REQUIRE(WIFSTOPPED(status));
  }
  void resume(std::size_t i) { ::kill(pids_[i], SIGCONT), paused_[i] = false; }
  void start(std::size_t i) {
    const auto url = [](int port) { return "http://127.0.0.1:" + std::to_string(port); };
    std::string cluster;
    for (std::size_t k = 0; k < kMembers; ++k)
      cluster += (k > 0 ? ",m" : "m") + std::to_string(k) + "=" + url(peer_ports_[k]);
    const std::string name = "m" + std::to_string(i);
    std::vector<std::string> words = {"etcd",
                                      "--name",
                                      name,
                                      "--data-dir",
                                      (folder_.path / name).string(),
                                      "--listen-client-urls",
                                      url(client_ports_[i]),
                                      "--advertise-client-urls",
                                      url(client_ports_[i]),
                                      "--listen-peer-urls",
                                      url(peer_ports_[i]),
                                      "--initial-advertise-peer-urls",
                                      url(peer_ports_[i]),
                                      "--initial-cluster",
                                      cluster,
                                      "--heartbeat-interval",
                                      "50",
                                      "--election-timeout",
                                      "500",
                                      "--log-level",
                                      "error"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const std::string log = (folder_.path / (name + ".log")).string();
    const pid_t parent = ::getpid();
    pids_[i] = ::fork();
    REQUIRE(pids_[i] >= 0);
    if (pids_[i] != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (::getppid() != parent || out < 0) ::_exit(126);
    ::dup2(out, 1), ::dup2(out, 2);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }

 private:
  static int free_port() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(::bind(fd, any, size) == 0);
    REQUIRE(::getsockname(fd, any, &size) == 0);
    ::close(fd);
    return ntohs(address.sin_port);
  }
  void all_up() {
    bool changed = false;
    for (std::size_t i = 0; i < kMembers; ++i) {
      if (paused_[i]) resume(i), changed = true;
      if (pids_[i] == 0) start(i), changed = true;
    }
    if (changed) wait_until_serving();
  }
  /// Until every member answers a linearizable read.
  void wait_until_serving() {
    for (std::size_t i = 0; i < kMembers; ++i) {
      EtcdClient client(only("ready", i), {std::chrono::seconds(30), std::chrono::seconds(1)});
      const auto read = client.range("/", "0", 1);
      if (!read) FAIL(read.error().message);
    }
  }

  TestFolder folder_{"etcd"};
  std::array<int, kMembers> peer_ports_{}, client_ports_{};
  std::array<pid_t, kMembers> pids_{};
  std::array<bool, kMembers> paused_{};
};

/// The next life of agent 0: takes partition 0 from the one before, whose holder it is.
inline Ownership next_epoch(const EtcdAddress& flock, const std::string& holder = "test") {
  EtcdAuthorityOptions options;
  options.holder = holder;
  EtcdAuthority authority(flock, options);
  const auto mine = await_epoch(authority, PartitionId{0}, AgentId{0}, [](const EpochRefused& no) {
    return no.why.code == Errc::conflict;
  });
  if (!mine) FAIL(mine.error().message);
  return mine.value();
}

}  // namespace starling
