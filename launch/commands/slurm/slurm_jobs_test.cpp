// SPDX-License-Identifier: Apache-2.0
#include "launch/commands/slurm/slurm_jobs.h"

#include <doctest/doctest.h>

#include "launch/commands/slurm/slurm_options.h"

namespace starling {
namespace {

using namespace std::chrono_literals;

TEST_CASE("lists of servers are folded as Slurm folds them, and unfolded") {
  const std::pair<Words, const char*> rows[] = {
      {{}, ""},
      {{"a"}, "a"},
      {{"server-0"}, "server-0"},
      {{"server-0", "server-1", "server-2", "server-7"}, "server-[0-2,7]"},
      {{"n08", "n09", "n10"}, "n[08-10]"},
      {{"a1", "b1", "b2"}, "a1,b[1-2]"}};
  for (const auto& [names, text] : rows) {
    CAPTURE(text);
    CHECK(host_list(names) == text);
    REQUIRE(hosts_in(text).has_value());
    CHECK(*hosts_in(text) == names);
  }
  CHECK_FALSE(hosts_in("a[1-").has_value());
  CHECK_FALSE(hosts_in("a[3-1]").has_value());
  CHECK_FALSE(hosts_in("a[x]").has_value());
}

TEST_CASE("a format has widths, to the right with a dot") {
  const Letters letters = [](char letter) -> std::optional<std::string> {
    if (letter == 'i') return "123456";
    return letter == 't' ? std::optional<std::string>("PD") : std::nullopt;
  };
  CHECK(slurm_line("%.8i|%3t|%.4i|%i", letters).value() == "  123456|PD |1234|123456");
  CHECK_FALSE(slurm_line("%z", letters).ok());
  CHECK_FALSE(slurm_line("%", letters).ok());
}

TEST_CASE("times are written as squeue and sacct write them") {
  CHECK(slurm_span(5s, false) == "0:05");
  CHECK(slurm_span(5s, true) == "00:00:05");
  CHECK(slurm_span(1h + 2min + 3s, false) == "1:02:03");
  CHECK(slurm_span(49h + 5s, true) == "2-01:00:05");
  CHECK(slurm_span(-5s, false) == "0:00");
}

TEST_CASE("options are read as getopt reads them, and none that is not known") {
  using Takes = SlurmOption::Takes;
  constexpr SlurmOption kKnown[] = {
      {'n', "ntasks", Takes::value}, {'h', "noheader"}, {0, "nice", Takes::perhaps}};
  const auto read = [&](const Words& words, bool stops = false) {
    return read_slurm_words("test", kKnown, words, stops);
  };
  CHECK(read({"-n4"}).value().text("ntasks") == "4");
  CHECK(read({"-n", "4", "x"}).value().words == Words{"x"});
  CHECK(read({"-hn4"}).value().has("noheader"));
  CHECK(read({"--ntasks=4"}).value().text("ntasks") == "4");
  CHECK(read({"--ntasks", "4"}).value().text("ntasks") == "4");
  CHECK(read({"--nice", "x"}).value().words == Words{"x"});
  CHECK(read({"x", "-n4"}, true).value().words == Words{"x", "-n4"});
  CHECK(read({"-n", "1,2", "-n3"}).value().list("ntasks") == Words{"1", "2", "3"});
  CHECK(read({"--licenses=a"}).error().message.find("'--licenses' is not understood") == 0);
  CHECK(read({"-z"}).error().message.find("'-z' is not understood") == 0);
  CHECK_FALSE(read({"-n"}).ok());
  CHECK_FALSE(read({"--noheader=1"}).ok());
}

TEST_CASE("states and reasons have Slurm's words") {
  JobState state;
  state.phase = JobPhase::waiting;
  state.reason = JobReason::held;
  CHECK(slurm_state(state, true) == "PD");
  CHECK(slurm_reason(state) == "JobHeldUser");
  state.reason = JobReason::quota;
  CHECK(slurm_reason(state) == "AssocGrpGRES");
  state.phase = JobPhase::failed;
  state.reason = JobReason::none;
  state.exit.timed_out = true;
  CHECK(slurm_state(state, false) == "TIMEOUT");
  state.job = JobId{0, 42};
  CHECK(slurm_id(state) == "42");
  auto ask = std::make_shared<JobAsk>();
  ask->terms.array = JobId{0, 7}, ask->terms.task = 3;
  state.ask = ask;
  CHECK(slurm_id(state) == "7_3");
}

}  // namespace
}  // namespace starling
