// SPDX-License-Identifier: Apache-2.0
// What jobs have printed is asked for through the owner of their server.
#include <doctest/doctest.h>

#include "agents/home/scripted_home_test.h"
#include "agents/testing/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::size_t lines_with(const std::vector<std::string>& transcript, const std::string& text) {
  std::size_t n = 0;
  for (const std::string& line : transcript) n += line.find(text) != line.npos ? 1U : 0U;
  return n;
}

const AttemptId kAttempt{JobId{0, 1}, Epoch{1}, 1};

TEST_CASE(
    "a question about output goes to the server's executor, and its answer to the client that "
    "asked") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(2s);
  (void)flock.take_transcript();
  flock.ask(1, ReadOutput{kAttempt, ServerId{1}, {}});
  flock.run_for(100ms);
  CHECK(lines_with(flock.take_transcript(), "ReadOutput") == 2);
  OutputPage page{kAttempt, ServerId{1}, client_node(1)};
  page.bytes = "hello";
  flock.tell(executor_node(1), agent_node(AgentId{1}), page);
  flock.run_for(100ms);
  CHECK(lines_with(flock.take_transcript(), "OutputPage") == 2);
}

TEST_CASE("another partition's agent says so, and a page from a stranger goes nowhere") {
  TestFlock flock({.agents = 2, .servers = 2, .lossy = true});
  flock.run_for(2s);
  (void)flock.take_transcript();
  flock.ask(0, ReadOutput{kAttempt, ServerId{1}, {}});
  flock.run_for(100ms);
  auto lines = flock.take_transcript();
  CHECK(lines_with(lines, "ReadOutput") == 1);
  CHECK(lines_with(lines, "OutputPage") == 1);
  flock.inject(0, executor_node(1), OutputPage{kAttempt, ServerId{1}, client_node(1)});
  flock.inject(0, agent_node(AgentId{1}), ReadOutput{kAttempt, ServerId{0}, {}});
  flock.run_for(100ms);
  lines = flock.take_transcript();
  CHECK(lines_with(lines, "OutputPage") == 0);
  CHECK(lines_with(lines, "ReadOutput") == 0);
}

TEST_CASE("the client that asks is answered, whatever the question says, and a refusal says why") {
  ScriptedHome home(2);
  home.hear(client_node(1), ReadOutput{kAttempt, ServerId{0}, client_node(7)});
  REQUIRE(home.last<ReadOutput>(executor_node(0)) != nullptr);
  CHECK(home.last<ReadOutput>(executor_node(0))->client == client_node(1));
  home.hear(client_node(1), ReadOutput{kAttempt, ServerId{1}, {}});
  REQUIRE(home.last<OutputPage>(client_node(1)) != nullptr);
  CHECK(home.last<OutputPage>(client_node(1))->trouble == "its server is of another partition");
}

}  // namespace
}  // namespace starling
