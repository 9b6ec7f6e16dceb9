// SPDX-License-Identifier: Apache-2.0
// A real agent process, and peers with right keys and wrong manners.
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <fstream>
#include <thread>
#include <zmq.hpp>

#include "base/rng.h"
#include "bus/flock.h"
#include "bus/keys.h"
#include "bus/wire/codec.h"
#include "launch/client/session.h"
#include "launch/daemon/test_daemons.h"
#include "launch/deployment/transport.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

const NodeId kVictim = agent_node(AgentId{0});
using Bytes = std::vector<std::byte>;

struct World : ForkedDaemons {
  World() {
    session = Session::open(deployment).value();
    for (int i = 0; i < 200; ++i) {
      if (const auto s = status(); s && s->free == 4) break;
      std::this_thread::sleep_for(50ms);
    }
    REQUIRE(status()->free == 4);
    // Until its roll call is over an agent takes no job and answers nothing about any.
    const auto answers = [&] {
      const auto any = [](const JobList&) { return true; };
      return session->ask<JobList>(kVictim, ListJobs{}, 500ms, any).has_value();
    };
    for (int i = 0; i < 40 && !answers(); ++i) continue;
    REQUIRE(answers());
  }
  [[nodiscard]] KeyPair keys(const std::string& name) const {
    return read_key_file(deployment.node_dir(name) / "keys.json").value();
  }
  [[nodiscard]] std::optional<AgentStatus> status() {
    return session->ask<AgentStatus>(kVictim, StatusQuery{}, 3s,
                                     [](const AgentStatus&) { return true; });
  }
  [[nodiscard]] std::size_t memory_kib() const {
    std::ifstream in("/proc/" + std::to_string(children.front()) + "/status");
    for (std::string word; in >> word;) {
      std::size_t kib = 0;
      if (word == "VmRSS:" && in >> kib) return kib;
    }
    return 0;
  }
  [[nodiscard]] std::string address() const {
    return read_flock(deployment.dir / "flock.json").value().at(kVictim).address;
  }

  std::unique_ptr<Session> session;
};

/// A connection of its own with a member's keys, below everything that checks what is sent.
class Peer {
 public:
  Peer(const World& world, const std::string& name, int rcvhwm = 1000)
      : socket_(context_, zmq::socket_type::dealer) {
    const KeyPair mine = world.keys(name);
    socket_.set(zmq::sockopt::linger, 0);
    socket_.set(zmq::sockopt::sndtimeo, 3000);
    socket_.set(zmq::sockopt::rcvhwm, rcvhwm);
    socket_.set(zmq::sockopt::immediate, true);
    socket_.set(zmq::sockopt::curve_serverkey, world.keys("agent-0").public_key);
    socket_.set(zmq::sockopt::curve_publickey, mine.public_key);
    socket_.set(zmq::sockopt::curve_secretkey, mine.secret_key);
    socket_.connect(world.address());
  }
  bool send(std::span<const std::byte> frame) {
    return socket_.send(zmq::buffer(frame.data(), frame.size()), zmq::send_flags::none).has_value();
  }
  bool say(const Message& message, std::uint64_t life = 1) {
    return send(codec_.encode({kNewestProtocol, Incarnation{life}, ++sequence_}, message));
  }
  /// What comes back over this connection.
  template <class T>
  std::optional<T> hear(int ms) {
    socket_.set(zmq::sockopt::rcvtimeo, ms);
    zmq::message_t m;
    while (socket_.recv(m)) {
      const auto frame = codec_.decode({m.data<std::byte>(), m.size()});
      const T* found = frame ? std::get_if<T>(&frame.value().message) : nullptr;
      if (found != nullptr) return *found;
    }
    return std::nullopt;
  }
  Bytes frame(const Message& message, std::uint64_t life = 1) {
    const auto bytes = codec_.encode({kNewestProtocol, Incarnation{life}, ++sequence_}, message);
    return {bytes.begin(), bytes.end()};
  }

 private:
  zmq::context_t context_{1};
  zmq::socket_t socket_;
  Codec codec_;
  std::uint64_t sequence_ = 0;
};

JobSpec short_job() {
  JobSpec spec;
  spec.id = JobId{7, 7};
  spec.name = "job";
  spec.duration = 50ms;
  spec.gpus_per_worker = 1;
  spec.command = {"true"};
  return spec;
}

/// All that a misbehaving peer must not change.
bool same_state(const AgentStatus& a, const AgentStatus& b) {
  return a.fence == b.fence && a.gpus == b.gpus && a.free == b.free &&
         a.quarantined == b.quarantined && a.waiting == b.waiting && a.running == b.running &&
         a.accepted == b.accepted && a.finished == b.finished && a.failed == b.failed;
}

}  // namespace

TEST_CASE("frames that are replayed, forged, stale, oversized or garbage change nothing") {
  World world;
  const auto counted = [&](std::uint64_t least) {
    for (int i = 0; i < 60; ++i) {
      if (world.status()->refused_frames >= least) return true;
      std::this_thread::sleep_for(50ms);
    }
    return false;
  };

  // A submission is captured, and said again over another connection after its job has ended.
  Peer client(world, "client-3");
  const Bytes submit = client.frame(Submit{short_job(), client_node(3), {}, {}, 0}, 4);
  REQUIRE(client.send(submit));
  REQUIRE(client.hear<Accepted>(5000));
  for (int i = 0; i < 100 && world.status()->finished == 0; ++i) std::this_thread::sleep_for(20ms);
  const AgentStatus before = *world.status();
  REQUIRE(before.accepted == 1);
  REQUIRE(before.finished == 1);
  Peer again(world, "client-3");
  for (int i = 0; i < 50; ++i) REQUIRE(again.send(submit));
  CHECK(same_state(before, *world.status()));

  // A later life was heard: what an earlier one said counts no more.
  Peer agent(world, "agent-1");
  REQUIRE(agent.say(Ping{1}, 9));
  std::this_thread::sleep_for(200ms);
  Peer zombie(world, "client-3");
  REQUIRE(zombie.say(Query{short_job().id}, 5));
  CHECK(zombie.hear<JobState>(3000));
  REQUIRE(zombie.say(Query{short_job().id}, 3));
  CHECK_FALSE(zombie.hear<JobState>(500));
  CHECK(same_state(before, *world.status()));

  // Another's partition, and words of another role.
  const std::uint64_t refused = world.status()->refused_frames;
  REQUIRE(agent.say(Digest{{PartitionId{0}, Epoch{99}}, 1, 8, 8, 4, 2, 0, 0}, 9));
  REQUIRE(agent.say(Exited{{short_job().id, Epoch{1}, 1}, PartitionId{0}, {}, {}}, 9));
  Peer executor(world, "executor-1");
  REQUIRE(executor.say(Submit{short_job(), client_node(3), {}, {}, 0}));
  REQUIRE(client.say(Release{{short_job().id, Epoch{1}, 1}, {PartitionId{0}, Epoch{1}}}, 5));
  CHECK(counted(refused + 4));
  CHECK(same_state(before, *world.status()));

  // Frames of 2 MiB: the connection ends, nothing else.
  const Bytes large(std::size_t{2} << 20U);
  for (int i = 0; i < 20; ++i) {
    Peer big(world, "agent-1");
    (void)big.send(large);
  }
  CHECK(same_state(before, *world.status()));

  // Bits that flip.
  Rng rng(5);
  const std::uint64_t until_now = world.status()->refused_frames;
  for (int i = 0; i < 3000; ++i) {
    Bytes bad = submit;
    for (int flips = 0; flips < 40; ++flips)
      bad[rng.below(static_cast<std::uint32_t>(bad.size()))] ^= std::byte(1U << rng.below(8));
    if (i % 3 == 0) bad.resize(rng.below(static_cast<std::uint32_t>(bad.size())));
    if (!bad.empty()) REQUIRE(agent.send(bad));
  }
  CHECK(counted(until_now + 2000));
  const AgentStatus after = *world.status();
  CHECK(after.running == 0);
  CHECK(after.accepted == before.accepted);
  CHECK(after.free == before.free);
}

TEST_CASE(
    "floods of broken greetings and of strangers cost an agent neither its answers nor memory") {
  World world;
  // Its executors have answered: nothing changes by itself any more.
  for (int i = 0; i < 200 && world.status()->quarantined > 0; ++i)
    std::this_thread::sleep_for(50ms);
  const AgentStatus before = *world.status();
  REQUIRE(before.quarantined == 0);
  const std::size_t memory = world.memory_kib();
  const std::string at = world.address();
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(at.substr(at.rfind(':') + 1))));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const std::string greeting(
      "\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01"
      "CURVE",
      17);
  std::vector<int> open;
  for (int i = 0; i < 2000; ++i) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(fd >= 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) {
      const std::string part = greeting.substr(0, 1 + static_cast<std::size_t>(i) % 17);
      (void)::send(fd, part.data(), part.size(), MSG_NOSIGNAL);
    }
    open.push_back(fd);
    if (open.size() < 200) continue;
    for (const int old : open) close(old);
    open.clear();
  }
  for (const int old : open) close(old);
  const auto answer = world.status();
  REQUIRE(answer);
  INFO("epoch ", answer->fence.epoch.value, ", ", answer->free, " free, ", answer->quarantined,
       " quarantined, ", answer->suspected, " suspected");
  CHECK(same_state(before, *answer));
  CHECK(world.memory_kib() < memory + 32 * 1024);
}

TEST_CASE(
    "a client that asks for 12,000 lists and reads none costs an agent neither memory nor "
    "answers") {
  World world;
  Peer client(world, "client-3");
  for (std::uint64_t i = 0; i < 1500; ++i) {
    JobSpec spec = short_job();
    spec.id = JobId{9, i + 1};
    spec.gpus_per_worker = 4;
    spec.command = {"sleep", "300"};
    REQUIRE(client.say(Submit{spec, client_node(3), {}, {}, 0}));
  }
  for (int i = 0; i < 200 && world.status()->accepted < 1500; ++i)
    std::this_thread::sleep_for(50ms);
  REQUIRE(world.status()->accepted == 1500);
  const std::size_t memory = world.memory_kib();
  std::size_t most = 0;
  Duration longest{0};
  const auto look = [&] {
    const Instant asked = Session::now();
    REQUIRE(world.status());
    longest = std::max(longest, Session::now() - asked);
    most = std::max(most, world.memory_kib());
  };
  Peer deaf(world, "client-2", 1);
  for (int i = 0; i < 12'000; ++i) {
    REQUIRE(deaf.say(ListJobs{JobId{}, 1000}));
    if (i % 200 == 0) look();
  }
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(50ms);
    look();
  }
  MESSAGE("grown by " << (most - memory) / 1024 << " MiB, longest answer "
                      << std::chrono::duration<double, std::milli>(longest).count() << " ms");
  CHECK(most < memory + 64 * 1024);
  CHECK(longest < 1s);
}
