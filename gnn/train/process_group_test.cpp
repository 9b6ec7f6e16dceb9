// SPDX-License-Identifier: Apache-2.0
#include "gnn/train/process_group.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "base/test_folder.h"
#include "gnn/marl/fresh_net.h"
#include "gnn/train/actor_critic.h"
#include "gnn/train/evolve.h"
#include "gnn/train/test_checks.h"
#include "gnn/train/test_scenario.h"
#include "gnn/train/train_policy.h"

namespace starling {
namespace {

std::uint16_t free_port() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(bind(fd, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  close(fd);
  return ntohs(address.sin_port);
}

/// Runs `work` in this process as the first and in another as the second.
template <class Work>
void as_two(const Work& work) {
  Rendezvous at{.rank = 0, .size = 2, .port = free_port()};
  const pid_t child = fork();
  if (child == 0) {
    at.rank = 1;
    bool good = false;
    if (const auto processes = rendezvous(at); processes) good = work(*processes.value());
    _exit(good ? 0 : 1);
  }
  {
    const auto processes = rendezvous(at);
    REQUIRE(processes);
    CHECK(work(*processes.value()));
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

Weights random_weights() { return fresh_marl({.hidden = {8}}, 7); }

TEST_CASE("two processes train to the same weights as one") {
  const std::vector<Scenario> training{small_scenario(1), small_scenario(2)};
  const std::vector<Scenario> validation{small_scenario(3)};
  TrainPolicyOptions options;
  options.system = marl();
  options.start = random_weights();
  options.threads = 1;
  EvolveStage evolve;
  evolve.options.generations = 1;
  evolve.options.pairs = 1;
  evolve.options.runs = 2;
  ActorCriticStage critic;
  critic.options.iterations = 2;
  critic.options.runs = 3;
  critic.options.batch = 100;
  critic.options.episode.limit = 60;
  critic.options.rate = 1e-2;
  options.stages = {evolve, critic};
  const TestFolder alone("alone"), together("together");
  options.folder = alone.path;
  const TrainedPolicy one = train_policy(training, validation, options).value();
  const std::uint64_t made = load_weights(alone.path / "made-1.weights").value().hash();
  CHECK(made != load_weights(alone.path / "made-0.weights").value().hash());
  options.folder = together.path;
  as_two([&](ProcessGroup& processes) {
    TrainPolicyOptions mine = options;
    mine.processes = &processes;
    const auto two = train_policy(training, validation, mine);
    return two && two.value().weights.hash() == one.weights.hash() &&
           two.value().validation == one.validation;
  });
  CHECK(load_weights(together.path / "made-1.weights").value().hash() == made);
}

TEST_CASE("an error of one process reaches both") {
  as_two([](ProcessGroup& processes) {
    const auto good = for_all(processes, 1, 3, [](std::size_t i) -> Result<Row> {
      return Row(i, static_cast<double>(i));
    });
    const auto bad = for_all(processes, 1, 3, [](std::size_t i) -> Result<Row> {
      if (i == 1) return Error{Errc::invalid, "planted"};
      return Row{0};
    });
    return good && good.value()[2] == Row{2, 2} && good.value()[0].empty() && !bad &&
           bad.error().message == "planted";
  });
}

TEST_CASE("more than a chunk of the store's size arrives whole") {
  as_two([](ProcessGroup& processes) {
    const std::string mine(3'000'000 + processes.rank(), static_cast<char>('a' + processes.rank()));
    const auto all = processes.all_gather(mine);
    return all && all.value()[0] == std::string(3'000'000, 'a') &&
           all.value()[1] == std::string(3'000'001, 'b');
  });
}

TEST_CASE("more processes than shards are refused") {
  class Many final : public ProcessGroup {
    [[nodiscard]] std::uint32_t size() const override { return 8; }
  } many;
  ActorCriticOptions options;
  options.processes = &many;
  const auto made = actor_critic(marl(), random_weights(), {}, {}, options);
  REQUIRE_FALSE(made);
  CHECK(made.error().message.find("shards") != std::string::npos);
}

TEST_CASE("the environment says where the rendezvous is, and what is wrong with it") {
  setenv("WORLD_SIZE", "4", 1);
  setenv("RANK", "4", 1);
  setenv("MASTER_ADDR", "10.0.0.1", 1);
  setenv("MASTER_PORT", "29501", 1);
  auto read = rendezvous_from_environment();
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("RANK=4") != std::string::npos);
  setenv("RANK", "3", 1);
  read = rendezvous_from_environment();
  REQUIRE(read);
  CHECK(read.value().rank == 3);
  CHECK(read.value().host == "10.0.0.1");
  CHECK(read.value().port == 29501);
  setenv("TORCHELASTIC_USE_AGENT_STORE", "True", 1);  // torchrun listens at that port itself
  CHECK(rendezvous_from_environment().value().port == 29502);
  unsetenv("TORCHELASTIC_USE_AGENT_STORE");
  unsetenv("MASTER_PORT");
  CHECK_FALSE(rendezvous_from_environment());
  unsetenv("WORLD_SIZE");
  CHECK(rendezvous_from_environment().value().size == 1);
}

TEST_CASE("tasks of srun find their rendezvous") {
  for (const char* name : {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT"}) unsetenv(name);
  setenv("SLURM_STEP_NUM_TASKS", "3", 1);
  setenv("SLURM_PROCID", "2", 1);
  setenv("SLURM_JOB_ID", "71", 1);
  setenv("SLURM_STEP_ID", "1", 1);
  const std::pair<const char*, const char*> lists[] = {{"alone", "alone"},
                                                       {"a,b", "a"},
                                                       {"gpu[03-12,20],x", "gpu03"},
                                                       {"n[7,9]", "n7"},
                                                       {"r1n[5]-ib,z", "r1n5-ib"}};
  for (const auto& [list, host] : lists) {
    setenv("SLURM_STEP_NODELIST", list, 1);
    const auto read = rendezvous_from_environment();
    REQUIRE(read);
    CHECK(read.value().host == host);
    CHECK(read.value().rank == 2);
    CHECK(read.value().size == 3);
    CHECK(read.value().port == 20'000 + 16 * 71 + 1);
  }
  for (const char* list : {"", "n[7", "n[1-2]r[3-4]"}) {
    setenv("SLURM_STEP_NODELIST", list, 1);
    REQUIRE_FALSE(rendezvous_from_environment());
    CHECK(rendezvous_from_environment().error().message.find("set MASTER_ADDR") !=
          std::string::npos);
  }
  setenv("MASTER_ADDR", "10.0.0.7", 1);
  setenv("MASTER_PORT", "29600", 1);
  CHECK(rendezvous_from_environment().value().host == "10.0.0.7");
  CHECK(rendezvous_from_environment().value().port == 29600);
  setenv("SLURM_PROCID", "3", 1);
  CHECK_FALSE(rendezvous_from_environment());
  // Of torchrun inside of a step, torchrun's count.
  setenv("WORLD_SIZE", "2", 1);
  setenv("RANK", "1", 1);
  CHECK(rendezvous_from_environment().value().size == 2);
  for (const char* name :
       {"WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT", "SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS",
        "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_STEP_NODELIST"})
    unsetenv(name);
  CHECK(rendezvous_from_environment().value().size == 1);
}

}  // namespace
}  // namespace starling
