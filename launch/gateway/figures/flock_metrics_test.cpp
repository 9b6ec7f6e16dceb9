// SPDX-License-Identifier: Apache-2.0
#include "launch/gateway/figures/flock_metrics.h"

#include <doctest/doctest.h>

#include <string>

#include "launch/gateway/figures/open_metrics.h"
#include "topology/generate/generate.h"

namespace starling {
namespace {

TEST_CASE("labels are escaped, and the two formats differ where they must") {
  const auto written = [](bool open) {
    OpenMetrics out(open);
    out.family("x_jobs", OpenMetrics::Kind::counter, "Jobs.");
    out.sample({{"user", "a\"b\\c\nd"}}, 3);
    out.single("x_part", OpenMetrics::Kind::gauge, "Part.", 0.25);
    return out.finish();
  };
  CHECK(written(true) ==
        "# HELP x_jobs Jobs.\n# TYPE x_jobs counter\nx_jobs_total{user=\"a\\\"b\\\\c\\nd\"} 3\n"
        "# HELP x_part Part.\n# TYPE x_part gauge\nx_part 0.25\n# EOF\n");
  CHECK(written(false) ==
        "# HELP x_jobs_total Jobs.\n# TYPE x_jobs_total counter\n"
        "x_jobs_total{user=\"a\\\"b\\\\c\\nd\"} 3\n"
        "# HELP x_part Part.\n# TYPE x_part gauge\nx_part 0.25\n");
}

bool has_line(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

TEST_CASE("a flock's figures are counted from its picture") {
  FlockPicture picture;
  GeneratorOptions options;
  options.servers = 3;
  options.gpus_per_server = 2;
  picture.topology = std::make_shared<const Topology>(generate_flat(options).value());
  picture.owners.assign(3, AgentId{0});
  AgentStatus agent;
  agent.gpus = 6;
  agent.free = 2;
  agent.drained = 1;
  agent.drained_servers = {ServerId{2}};
  agent.accepted = 12;
  picture.agents.push_back(agent);
  picture.silent = {AgentId{1}};
  const auto add = [&](std::uint64_t id, JobPhase phase, const std::string& user,
                       std::vector<std::uint32_t> gpus) {
    JobState state;
    state.job = {0, id};
    state.phase = phase;
    auto ask = std::make_shared<JobAsk>();
    ask->user = user;
    ask->queue = "q";
    state.ask = ask;
    for (const std::uint32_t gpu : gpus) state.placement.push_back(GpuId{gpu});
    picture.jobs.push_back(state);
  };
  add(1, JobPhase::running, "ann", {0, 1});
  add(2, JobPhase::waiting, "ann", {});
  add(3, JobPhase::running, "bob", {2});
  add(4, JobPhase::finished, "bob", {3});
  picture.hardware = {{"idle", 2}};
  picture.queues.emplace();
  picture.queues->tree.queues.resize(2);
  picture.queues->tree.queues[0].name = "q";
  picture.queues->tree.queues[0].guaranteed = 2;
  picture.queues->tree.queues[0].most = 4;
  picture.queues->tree.queues[1].name = "r";
  picture.queues->uses = {{{"q", ""}, 4, 3, 1}, {{"q", "ann"}, 2, 2, 1}};
  RequestCounts requests;
  requests.add("listJobs", 200, 0.002);
  requests.add("listJobs", 200, 99);
  const std::string text = flock_metrics(&picture, {requests}, true);
  for (const char* line : {"starling_queue_running 2",
                           "starling_queue_pending 1",
                           "starling_queue_completed 1",
                           "starling_queue_gpus{queue=\"q\",kind=\"guaranteed\"} 2",
                           "starling_queue_gpus{queue=\"q\",kind=\"most\"} 4",
                           "starling_queue_gpus{queue=\"r\",kind=\"guaranteed\"} 0",
                           "starling_queue_gpus{queue=\"q\",kind=\"may\"} 4",
                           "starling_queue_gpus{queue=\"q\",kind=\"used\"} 3",
                           "starling_queue_gpus{queue=\"q\",kind=\"wanted\"} 1",
                           "starling_gpus 6",
                           "starling_gpus_alloc 3",
                           "starling_gpus_idle 2",
                           "starling_gpus_alloc_unused 2",
                           "starling_gpus_slow 0",
                           "starling_gpus_utilization 0.5",
                           "starling_nodes_alloc 1",
                           "starling_nodes_mix 1",
                           "starling_nodes_idle 0",
                           "starling_nodes_drain 1",
                           "starling_user_jobs_pending{user=\"ann\"} 1",
                           "starling_user_gpus_running{user=\"bob\"} 1",
                           "starling_account_jobs_running{account=\"q\"} 2",
                           "starling_agent_up{agent=\"0\"} 1",
                           "starling_agent_up{agent=\"1\"} 0",
                           "starling_agent_jobs_accepted_total{agent=\"0\"} 12",
                           "starling_gateway_requests_total{route=\"listJobs\",code=\"200\"} 2",
                           "starling_gateway_request_seconds_bucket{le=\"0.005\"} 1",
                           "starling_gateway_request_seconds_bucket{le=\"10\"} 1",
                           "starling_gateway_request_seconds_bucket{le=\"+Inf\"} 2"})
    CHECK_MESSAGE(has_line(text, line), line);
  CHECK(text.ends_with("# EOF\n"));
}

TEST_CASE("a flock that was not read yet has figures of its gateway alone") {
  const std::string text = flock_metrics(nullptr, {}, true);
  CHECK(has_line(text, "starling_gateway_ready 0"));
  CHECK(text.find("starling_gpus") == std::string::npos);
}

}  // namespace
}  // namespace starling
