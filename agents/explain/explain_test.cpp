// SPDX-License-Identifier: Apache-2.0
// Everybody may ask why a job waits.
#include <doctest/doctest.h>

#include "agents/step/step.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string ask(TestFlock& flock, std::uint64_t job, std::uint32_t agent = 0) {
  (void)flock.take_transcript();
  flock.ask(agent, Explain{JobId{0, job}});
  flock.run_for(1ms);
  std::string text;
  for (const std::string& line : flock.take_transcript()) {
    if (line.find("Explanation") != line.npos) text += line;
  }
  return text;
}

void has(const std::string& text, const std::string& what) {
  CAPTURE(text);
  CHECK(text.find(what) != std::string::npos);
}

TEST_CASE("the explanation names place, need and the jobs ahead") {
  TestFlock flock({.servers = 2, .policy = "fifo:queue=strict"});
  flock.submit(1, 5, 100s);
  flock.submit(2, 8, 100s);
  flock.submit(3, 2, 100s);
  flock.run_for(1s);
  has(ask(flock, 1), "runs on GPUs 0-4");
  flock.cancel(1);
  flock.run_for(1s);
  has(ask(flock, 2), "runs on GPUs 0-7");
  const std::string text = ask(flock, 3);
  has(text, "waits at agent 0 (order 3, one of 1 waiting)");
  has(text, "needs 2 GPUs: partition 0 has 0 free of 8");
  has(ask(flock, 1), "cancelled after");
  has(ask(flock, 9), "does not know this job");
}

TEST_CASE("the jobs ahead are said in the order of the policy, by priority first") {
  TestFlock flock({.servers = 1, .policy = "sjf"});
  const auto submit = [&](std::uint64_t n, Duration length, std::int32_t priority) {
    JobSpec spec;
    spec.id = JobId{0, n};
    spec.workers = 4;
    spec.duration = length;
    spec.priority = priority;
    flock.submit(spec, 0);
  };
  submit(1, 1000s, 0);
  flock.run_for(1s);
  submit(2, 300s, 0);
  flock.run_for(1s);
  submit(3, 100s, 0);
  flock.run_for(1s);
  CHECK(ask(flock, 3).find("before it") == std::string::npos);
  CHECK(ask(flock, 3).find("priority") == std::string::npos);
  has(ask(flock, 2),
      "policy sjf: 1 job before it; the first, " + to_string(JobId{0, 3}) + ", needs 4 GPUs");
  submit(4, 900s, 5);
  flock.run_for(1s);
  submit(5, 1s, -1);
  flock.run_for(1s);
  has(ask(flock, 4), "one of 4 waiting, priority 5)");
  CHECK(ask(flock, 4).find("before it") == std::string::npos);
  has(ask(flock, 3), "one of 4 waiting, priority 0)");
  has(ask(flock, 3), "policy sjf: 1 job before it, of higher priority; the first, " +
                         to_string(JobId{0, 4}) + ", needs 4 GPUs and has priority 5");
  has(ask(flock, 2), "2 jobs before it, 1 of higher priority and 1 of the same; the first, " +
                         to_string(JobId{0, 4}));
  has(ask(flock, 5), "3 jobs before it, of higher priority");
}

TEST_CASE("an executor that stands still is told before it is given up") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.submit(1, 4, 1000s);
  for (int i = 0; i < 40; ++i) {
    flock.run_for(250ms);
    CHECK(ask(flock, 1).find("executor") == std::string::npos);
  }
  const std::uint32_t on = flock.agent(0).home.jobs.at(JobId{0, 1}).placement.front().value / 4;
  flock.set_cut(executor_node(on), agent_node(AgentId{0}), true);
  flock.run_for(2s);
  has(ask(flock, 1), "of it, was last heard of 2 s ago by agent 0, and is late");
}

TEST_CASE("an executor that is not heard is told at the job, with since when and by whom") {
  TestFlock flock({.servers = 2, .lossy = true});
  flock.submit(1, 4, 1000s);
  flock.run_for(1s);
  CHECK(ask(flock, 1).find("executor") == std::string::npos);
  const std::uint32_t on = flock.agent(0).home.jobs.at(JobId{0, 1}).placement.front().value / 4;
  flock.set_cut(executor_node(on), agent_node(AgentId{0}), true);
  flock.run_for(40s);
  const std::string text = ask(flock, 1);
  CAPTURE(text);
  CHECK(text.find("executor-" + std::to_string(on) + ", which has GPUs " +
                  (on == 0 ? "0-3" : "4-7") + " of it, was last heard of ") != std::string::npos);
  CHECK(text.find(" s ago by agent 0 and does not answer") != std::string::npos);
  flock.cancel(1);
  flock.run_for(1s);
  CHECK(ask(flock, 1).find("does not answer") != std::string::npos);
  flock.set_cut(executor_node(on), agent_node(AgentId{0}), false);
  flock.run_for(20s);
  CHECK(ask(flock, 1).find("cancelled after") != std::string::npos);
}

TEST_CASE(
    "an owner that is not the home tells what it has of a job, and which of its executors are "
    "silent") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.submit(1, 8, 1000s);
  flock.run_for(2s);
  CHECK(ask(flock, 1, 1).find("agent 1 has GPUs 4-7 of it") != std::string::npos);
  flock.set_cut(executor_node(1), agent_node(AgentId{1}), true);
  flock.run_for(30s);
  CHECK(ask(flock, 1, 1).find("executor-1, which has GPUs 4-7 of it, was last heard of") !=
        std::string::npos);
  flock.freeze_agent(1, 60s);
  flock.run_for(30s);
  const std::string home = ask(flock, 1);
  CAPTURE(home);
  CHECK(home.find("agent 1, which has GPUs 4-7 of it, was last heard of") != std::string::npos);
}

TEST_CASE("the explanation says in which scale-up domain a gang runs, and what is free in one") {
  TestFlock flock({.servers = 4, .servers_per_domain = 2, .policy = "fifo:queue=skip,fit=server"});
  flock.submit(1, 2, 100s);
  flock.submit(2, 8, 100s);
  flock.submit(3, 8, 100s);
  flock.run_for(1s);
  CHECK(ask(flock, 1).find("domain") == std::string::npos);
  has(ask(flock, 2), "runs on GPUs 8-15 ");
  has(ask(flock, 2), ", within the scale-up domain of p0-r0-s2 to p0-r0-s3");
  has(ask(flock, 3), "largest free server 4, largest free scale-up domain 6");
}

TEST_CASE("the status counts what happened") {
  TestFlock flock({.servers = 1});
  flock.submit(1, 4, 10s);
  flock.submit(2, 4, 100s);
  flock.submit(3, 4, 100s);
  flock.run_for(20s);
  const AgentStatus status = status_of(flock.agent(0));
  CHECK(status.accepted == 3);
  CHECK(status.finished == 1);
  CHECK(status.running == 1);
  CHECK(status.waiting == 1);
  CHECK(status.free == 0);
  CHECK(status.gpus == 4);
  CHECK(status.decisions == 2);
}

}  // namespace
}  // namespace starling
