// SPDX-License-Identifier: Apache-2.0
// Which jobs are meant, when things happened to them, and how they are shown.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "base/rng.h"
#include "launch/jobs/job_filter.h"
#include "launch/jobs/job_table.h"
#include "launch/jobs/output_json.h"
#include "topology/generate/generate.h"

using namespace starling;
using namespace std::chrono_literals;

namespace {

const Date kNow = Date(std::chrono::hours(24 * 365 * 56));

JobState job(std::uint64_t n, JobPhase phase, const std::string& name, const std::string& user,
             Duration ago) {
  JobSpec spec;
  spec.name = name, spec.user = user, spec.workers = 2, spec.gpus_per_worker = 4;
  spec.gpu_types = {"V100"}, spec.command = {"sh", "-c", "a, \"b\""};
  JobState state;
  state.job = {n << 60U, n};
  state.phase = phase;
  state.ask = ask_of(spec);
  state.submitted = std::chrono::duration_cast<Duration>(kNow.time_since_epoch()) - ago;
  state.begun = phase != JobPhase::waiting;
  state.queued = 5s, state.elapsed = 60s;
  state.placement = {GpuId{0}, GpuId{1}, GpuId{4}};
  return state;
}

std::vector<JobState> jobs() {
  return {job(1, JobPhase::running, "train-1", "ann", 1h),
          job(2, JobPhase::finished, "eval", "bob", 3h),
          job(3, JobPhase::waiting, "train-2", "ann", 1min)};
}

std::string chosen(const JobFilter& filter) {
  const auto found = filter.choose(jobs(), "ann", kNow);
  if (!found) return found.error().message;
  std::string text;
  for (const JobState& state : found.value()) text += std::to_string(state.job.lo);
  return text;
}

}  // namespace

TEST_CASE("jobs are chosen by user, state, name, date and id, the newest last") {
  CHECK(chosen({}) == "213");
  CHECK(chosen({.users = "me"}) == "13");
  CHECK(chosen({.users = "bob,nobody"}) == "2");
  CHECK(chosen({.states = "open"}) == "13");
  CHECK(chosen({.states = "Running,ended"}) == "21");
  CHECK(chosen({.names = "train-*"}) == "13");
  CHECK(chosen({.since = "2h"}) == "13");
  CHECK(chosen({.last = 2}) == "13");
  CHECK(chosen({.ids = {"2"}}) == "2");
  CHECK(chosen({.ids = {"30"}}) == "3");
  CHECK(chosen({.ids = {"30", "2", "30000"}}) == "23");
  CHECK(chosen({.ids = {"4"}}).find("no agent that answers knows job 4") == 0);
  CHECK(chosen({.states = "runing"}).find("did you mean 'running'") != std::string::npos);
  CHECK(chosen({.since = "soon"}).find("how long ago") != std::string::npos);
  CHECK_FALSE(JobFilter{}.any());
}

TEST_CASE("dates follow from the submission, where that is known") {
  const JobDates dates = dates_of(jobs()[1], kNow);
  CHECK(*dates.submitted == kNow - 3h);
  CHECK(*dates.started == kNow - 3h + 5s);
  CHECK(*dates.ended == kNow - 3h + 60s);
  JobState state = jobs()[0];
  state.submitted = Duration{-1};
  CHECK(*dates_of(state, kNow).submitted == kNow - 60s);
  CHECK_FALSE(dates_of(state, kNow).ended);
  state.phase = JobPhase::finished;
  CHECK_FALSE(dates_of(state, kNow).submitted);
  CHECK(date_text({}, kNow) == "-");
  CHECK(*parse_date("90s", kNow) == kNow - 90s);
  CHECK(*parse_date("1.5h", kNow) == kNow - 90min);
  CHECK(parse_date("2026-11-23T12:30:05", kNow));
  CHECK(*parse_date("2026-11-23 00:00", kNow) == *parse_date("2026-11-23", kNow));
  for (const char* wrong : {"", "h", "-1h", "1w", "2026-11", "yesterday", "2026-11-23x"})
    CHECK_FALSE(parse_date(wrong, kNow));
}

TEST_CASE("a list is a table, CSV or JSON") {
  GeneratorOptions flat;
  flat.servers = 2, flat.gpus_per_server = 4;
  const Topology topology = generate_flat(flat).value();
  const JobTable table{topology, kNow};
  std::vector<ListedJob> listed;
  for (const JobState& state : jobs()) listed.push_back({state, "agent-1"});
  const std::string text = table.text(listed);
  CHECK(text.find("2x4 V100") != std::string::npos);
  CHECK(text.find("queue") == std::string::npos);  // no job has one
  CHECK(text.find(topology.server(ServerId{0}).name + "," + topology.server(ServerId{1}).name) !=
        std::string::npos);
  CHECK(table.csv(listed).find(",\"sh -c a, \"\"b\"\"\",2,4,V100,") != std::string::npos);
  const std::string json = table.json(listed[1]);
  CHECK(json.find("\"user\":\"bob\"") != std::string::npos);
  CHECK(json.find("\"started\":\"20") != std::string::npos);
  CHECK(table.json(listed[2]).find("\"started\":null") != std::string::npos);
}

TEST_CASE("a job that waits again is nowhere, and where it was last is said to be that") {
  const Topology topology = generate_flat({.servers = 2, .gpus_per_server = 4}).value();
  const JobTable table{topology, kNow};
  const std::string first = topology.server(ServerId{0}).name,
                    second = topology.server(ServerId{1}).name;
  const ListedJob waits{jobs()[2], "agent-0"}, runs{jobs()[0], "agent-0"};
  CHECK(table.text({waits}).find(first) == std::string::npos);
  auto json = nlohmann::json::parse(table.json(waits));
  CHECK(json.at("placement") == "");
  CHECK(json.at("servers").empty());
  CHECK(json.at("last_servers") == nlohmann::json{first, second});
  CHECK(table.csv({waits}).find(",,," + first + " " + second + ",") != std::string::npos);
  json = nlohmann::json::parse(table.json(runs));
  CHECK(json.at("servers") == nlohmann::json{first, second});
  CHECK(json.at("last_servers").empty());
}

TEST_CASE("an elastic job is shown with its bounds") {
  const Topology topology = generate_flat({}).value();
  const JobTable table{topology, kNow};
  JobSpec spec;
  spec.workers = 4, spec.min_workers = 2, spec.max_workers = 8;
  ListedJob listed{jobs()[0], "agent-0"};
  listed.state.ask = ask_of(spec);
  CHECK(table.text({listed}).find(" 4 (2-8) x1 ") != std::string::npos);
  CHECK(table.csv({listed}).find(",2,8,") != std::string::npos);
  const auto json = nlohmann::json::parse(table.json(listed));
  CHECK(json.at("min_workers") == 2);
  CHECK(json.at("max_workers") == 8);
  CHECK(nlohmann::json::parse(table.json(ListedJob{jobs()[0], ""})).at("max_workers") == 0);
}

TEST_CASE("an exit code is that of a process that has ended, else there is none") {
  const Topology topology = generate_flat({}).value();
  const JobTable table{topology, kNow};
  const auto shown = [&](JobPhase phase, std::int32_t code) {
    ListedJob listed{job(1, phase, "a", "ann", 1h), "agent-0"};
    listed.state.exit.code = code;
    const auto json = nlohmann::json::parse(table.json(listed)).at("exit_code");
    std::string csv = table.csv({listed}), text = table.text({listed});
    for (int last = 0; last < 6; ++last) csv = csv.substr(0, csv.rfind(','));  // what follows it
    csv = csv.substr(csv.rfind(',') + 1), text = text.substr(text.rfind(' ') + 1);
    CHECK(csv == (json.is_null() ? "" : json.dump()));
    CHECK(text == (json.is_null() ? "-" : json.dump()) + "\n");
    return json;
  };
  CHECK(shown(JobPhase::finished, 0) == 0);
  CHECK(shown(JobPhase::failed, 3) == 3);
  CHECK(shown(JobPhase::failed, -9) == -9);
  CHECK(shown(JobPhase::failed, 0).is_null());  // given up, or lost with its host
  for (const JobPhase phase : {JobPhase::waiting, JobPhase::starting, JobPhase::running,
                               JobPhase::draining, JobPhase::cancelled})
    CHECK(shown(phase, 0).is_null());
}

TEST_CASE("an exit status is what a shell says of the job") {
  JobState state = jobs()[1];
  CHECK(shell_status(state) == 0);
  state.phase = JobPhase::failed;
  state.exit.code = 3;
  CHECK(shell_status(state) == 3);
  state.exit.code = -9;
  CHECK(shell_status(state) == 137);
  state.exit.code = 0;  // given up
  CHECK(shell_status(state) == 1);
  state.phase = JobPhase::cancelled;
  CHECK(shell_status(state) == 143);
}

TEST_CASE("any bytes make a JSON object on one line") {
  const JobId job{1, 2};
  CHECK(output_json({job, 3, "s0", {1, "\"loss\"\t0.5", false}}) ==
        "{\"job\":\"" + to_string(job) +
            "\",\"attempt\":3,\"server\":\"s0\",\"rank\":1,\"line\":\"\\\"loss\\\"\\t0.5\"}\n");
  CHECK(output_json({job, 3, "s0", {}, 17}) ==
        "{\"job\":\"" + to_string(job) + "\",\"attempt\":3,\"server\":\"s0\",\"gone_bytes\":17}\n");
  Rng rng(4);
  for (int i = 0; i < 500; ++i) {
    std::string text(rng.below(60), ' ');
    for (char& c : text) c = static_cast<char>(rng.below(256));
    const std::string line = output_json({job, 1, "s0", {std::nullopt, text, true}});
    CHECK(line.find('\n') == line.size() - 1);
    const auto read = nlohmann::json::parse(line);
    CHECK(read["rank"].is_null());
    CHECK(read["cut"] == true);
    CHECK(read["line"].is_string());
  }
}
