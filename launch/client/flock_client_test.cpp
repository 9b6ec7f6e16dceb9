// SPDX-License-Identifier: Apache-2.0
// A client of a real flock, one of whose two agents does not answer.
#include "launch/client/flock_client.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "launch/client/output_of_job.h"
#include "launch/daemon/test_daemons.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

using Ids = std::vector<AgentId>;
const Ids kSilent{AgentId{1}};

/// Sends what this process prints into a file while it lives.
class Overheard {
 public:
  explicit Overheard(std::filesystem::path file) : file_(std::move(file)) {
    std::fflush(stdout);
    const int to = ::open(file_.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    for (int fd : {1, 2}) {
      saved_.push_back(::dup(fd));
      ::dup2(to, fd);
    }
    ::close(to);
  }
  ~Overheard() {
    std::fflush(stdout);
    for (int fd : {1, 2}) {
      ::dup2(saved_[static_cast<std::size_t>(fd - 1)], fd);
      ::close(saved_[static_cast<std::size_t>(fd - 1)]);
    }
    std::ifstream in(file_);
    for (std::string line; std::getline(in, line);) std::fprintf(stderr, "%s\n", line.c_str());
  }
  [[nodiscard]] std::uintmax_t bytes() const { return std::filesystem::file_size(file_); }

 private:
  std::filesystem::path file_;
  std::vector<int> saved_;
};

struct World : ForkedDaemons {
  /// Of the two agents the first alone, or both.
  explicit World(bool both = false) : flock(opened(both)) {
    // Until its roll call is over an agent takes no job and answers nothing about any.
    for (int i = 0; i < 60 && !ready(); ++i) std::this_thread::sleep_for(100ms);
    REQUIRE(ready());
  }
  [[nodiscard]] std::unique_ptr<FlockClient> opened(bool both) {
    if (both) start("agent-1", [](const auto& config) { return run_agent(config); });
    return FlockClient::open(deployment.dir).value();
  }
  [[nodiscard]] bool ready() const {
    const auto found = flock->agents_found(500ms);
    return found && found.value().agents.front().free == 4 && flock->jobs(500ms).ok();
  }
  /// One that runs for an hour, once it is accepted.
  [[nodiscard]] JobSpec submitted() const {
    JobSpec job;
    job.name = "long";
    job.duration = 1h;
    job.id = flock->new_id().value();
    REQUIRE(flock->set_user(job).ok());
    REQUIRE(flock->can_run(job).ok());
    const auto said = flock->submit(job);
    REQUIRE(said.ok());
    CHECK_FALSE(said.value().over);
    return job;
  }

  std::unique_ptr<FlockClient> flock;
};

}  // namespace

TEST_CASE("the life of a job, by a client that prints nothing") {
  const World world;
  FlockClient& flock = *world.flock;
  const Overheard heard(world.folder.path / "printed");
  JobSpec job = world.submitted();

  // Twice is once; another job of that id is told.
  CHECK(flock.submit(job).ok());
  CHECK_FALSE(flock.instead_of(job, {}).has_value());
  JobSpec other = job;
  other.gpus_per_worker = 2;
  REQUIRE(flock.submit(other).ok());
  CHECK(flock.instead_of(other, {})->job == job.id);

  for (int i = 0; i < 100 && flock.job(job.id).value().phase != JobPhase::running; ++i)
    std::this_thread::sleep_for(50ms);
  const JobState running = flock.job(to_string(job.id)).value();
  CHECK(running.phase == JobPhase::running);
  CHECK(flock.owner_of(flock.topology().server_of(running.placement.front())) == AgentId{0});
  CHECK(flock.ended(job.id, 300ms).error().code == Errc::not_ready);
  const auto why = flock.explain(running);
  REQUIRE(why.ok());
  CHECK_FALSE(why.value().lines.empty());
  CHECK(why.value().silent.empty());

  std::string printed;
  OutputOfJob output(
      flock, {}, [&](const std::string& text) { printed += text; }, [](const std::string&) {});
  CHECK(output.look_at(running).ok());
  CHECK(output.read(3s));

  const auto cancelled = flock.cancel({running});
  REQUIRE(cancelled.ok());
  REQUIRE(cancelled.value().size() == 1);
  CHECK(cancelled.value().front().state.phase == JobPhase::cancelled);
  CHECK(cancelled.value().front().denied.empty());
  CHECK(flock.ended(job.id, 3s).value().phase == JobPhase::cancelled);
  CHECK(flock.submit(job).value().over);
  CHECK(heard.bytes() == 0);
}

TEST_CASE("news that a job starts are no answer to a question about it") {
  const World world;
  FlockClient& flock = *world.flock;
  for (int i = 0; i < 40; ++i) {
    const JobSpec job = world.submitted();
    const auto state = flock.job(job.id);
    REQUIRE(state.ok());
    CHECK(state.value().ask != nullptr);
    REQUIRE(flock.cancel({state.value()}).ok());
  }
}

TEST_CASE("an agent that does not answer is named, and costs no more than the patience") {
  const World world;
  FlockClient& flock = *world.flock;
  const JobSpec job = world.submitted();
  const auto begun = std::chrono::steady_clock::now();
  const auto jobs = flock.jobs(1s);
  REQUIRE(jobs.ok());
  CHECK(jobs.value().silent == kSilent);
  REQUIRE(jobs.value().jobs.size() == 1);
  CHECK(jobs.value().jobs.front().job == job.id);
  CHECK(flock.agents_found(1s).value().silent == kSilent);
  // Only the silent one could know it.
  CHECK(flock.job(JobId{1, 2}, 1s).error().code == Errc::not_ready);
  const SetDrain of_the_silent{ServerId{1}, true, false, 0};
  CHECK(flock.drain(of_the_silent, 1s).error().message ==
        "agent-1 does not answer; is the flock up?");
  JobSpec there = job;
  there.id.lo += there.id.lo % 2 == 0 ? 1 : 2;
  CHECK(flock.submit(there, 1s).error().code == Errc::not_ready);
  CHECK(std::chrono::steady_clock::now() - begun < 15s);
  REQUIRE(flock.cancel({flock.job(job.id).value()}).ok());
}

TEST_CASE("a server is drained, asked about and used again") {
  const World world;
  FlockClient& flock = *world.flock;
  CHECK(flock.server_named("0") == ServerId{0});
  CHECK(flock.server_named(flock.topology().server(ServerId{1}).name) == ServerId{1});
  CHECK_FALSE(flock.server_named("2").has_value());
  const auto drained = flock.drain({ServerId{0}, true, false, 0});
  REQUIRE(drained.ok());
  CHECK(drained.value().drained);
  const auto asked = flock.drain({ServerId{0}, true, false, drained.value().version});
  REQUIRE(asked.ok());
  CHECK(asked.value().version == drained.value().version);
  const auto used = flock.drain({ServerId{0}, false, false, 0});
  REQUIRE(used.ok());
  CHECK(used.value().version > drained.value().version);
  const auto late = flock.drain({ServerId{0}, true, false, drained.value().version});
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().code == Errc::conflict);
  const auto nowhere = flock.drain({ServerId{7}, true, false, 0});
  REQUIRE_FALSE(nowhere.ok());
  CHECK(nowhere.error().code == Errc::invalid);
}

TEST_CASE("queues are set and asked for, and are the same when they are said again") {
  const World world(true);
  FlockClient& flock = *world.flock;
  const auto none = flock.queues();
  REQUIRE_MESSAGE(none.ok(), none.error().message);
  CHECK(none.value().tree == QueueTree{});
  QueueTree tree;
  tree.queues.resize(1);
  tree.queues[0].name = "all";
  tree.queues[0].most = 2;
  tree.fallback = "all";
  auto set = flock.set_queues(tree);
  for (int i = 0; i < 100 && !set.ok(); ++i) {  // until the agents have heard one another
    std::this_thread::sleep_for(100ms);
    set = flock.set_queues(tree);
  }
  REQUIRE_MESSAGE(set.ok(), set.error().message);
  CHECK(set.value().tree.version == 1);
  CHECK(set.value().tree.queues == tree.queues);
  CHECK(flock.set_queues(tree).value().tree.version == 1);
  CHECK(flock.queues().value().tree.version == 1);
  tree.queues[0].most = 4;
  CHECK(flock.set_queues(tree).value().tree.version == 2);
  CHECK(flock.queues().value().tree.queues == tree.queues);
  tree.fallback = "nowhere";
  CHECK(flock.set_queues(tree).error().code == Errc::invalid);
}

TEST_CASE("queues are set once all agents have been heard") {
  const World world;
  QueueTree tree;
  tree.queues.resize(1);
  tree.queues[0].name = "all";
  const auto set = world.flock->set_queues(tree);
  REQUIRE_FALSE(set.ok());
  CHECK(set.error().message.find("agent 1 has not been heard yet") != std::string::npos);
}

TEST_CASE("what cannot be is said before any agent is asked") {
  const TestFolder empty("no-flock");
  CHECK(FlockClient::open(empty.path).error().code == Errc::not_found);
  const World world;
  FlockClient& flock = *world.flock;
  JobSpec job;
  job.duration = 1min;
  job.gpus_per_worker = 5;
  CHECK(flock.can_run(job).error().code == Errc::invalid);
  job.gpus_per_worker = 1;
  job.command = {"true"};
  CHECK(flock.can_run(job).ok());
  job.duration = 0s;
  CHECK(flock.can_run(job).error().message.find("--duration TIME") != std::string::npos);
  CHECK(flock.members().error().code == Errc::unsupported);
  CHECK(flock.add_member({}).error().code == Errc::unsupported);
  CHECK(flock.job(std::string("no id")).error().code == Errc::invalid);
  CHECK(flock.agent_named("agent-1") == AgentId{1});
  CHECK_FALSE(flock.agent_named("agent-2").has_value());
  CHECK_FALSE(flock.reread().value());
}
