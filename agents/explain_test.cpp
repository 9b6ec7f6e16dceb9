// Everybody may ask why a job waits.
#include <doctest/doctest.h>

#include "agents/step.h"
#include "agents/testing.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

std::string ask(TestFlock& flock, std::uint64_t job) {
  (void)flock.take_transcript();
  flock.ask(0, Explain{JobId{0, job}});
  flock.run_for(1ms);
  std::string text;
  for (const std::string& line : flock.take_transcript()) {
    if (line.find("Explanation") != line.npos) text += line;
  }
  return text;
}

TEST_CASE("the explanation names place, need and who is in front") {
  TestFlock flock({.servers = 2, .policy = "fifo:queue=strict"});
  flock.submit(1, 5, 100s);
  flock.submit(2, 8, 100s);
  flock.submit(3, 2, 100s);
  flock.run_for(1s);
  const auto has = [](const std::string& text, const std::string& what) {
    CAPTURE(text);
    CHECK(text.find(what) != std::string::npos);
  };
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
