// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/deployment/readiness.h"
#include "launch/system/amount.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"
#include "topology/placement_text.h"

namespace starling {
namespace {

struct Options {
  std::string flock;
  bool json = false;
};

/// Of one server that is not wholly in use.
struct Trouble {
  bool drained = false;
  Placement bad;
};

int state(const Options& o) {
  catch_stop_signals();
  auto found = connected_flock(o.flock);
  if (!found) return failed(found.error());
  const FlockClient& flock = *found.value();
  const Topology& t = flock.topology();
  const auto answer = found.value()->agents_found();
  if (!answer) return work_failed("topology state: " + answer.error().message);
  const std::vector<AgentStatus>& agents = answer.value().agents;
  std::map<ServerId, Trouble> troubles;
  std::uint32_t quarantined = 0, waiting = 0;
  for (const AgentStatus& a : agents) {
    waiting += awaited_gpus(a);
    quarantined += a.quarantined;
    for (const ServerId server : a.drained_servers) {
      if (server.value < t.server_count()) troubles[server].drained = true;
    }
    for (const GpuId gpu : a.sick_gpus) {
      if (gpu.value < t.gpu_count()) troubles[t.server_of(gpu)].bad.push_back(gpu);
    }
  }
  nlohmann::json list = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"server", "name", "drained", "bad GPUs"}};
  for (const auto& [server, trouble] : troubles) {
    rows.push_back({std::to_string(server.value), t.server(server).name,
                    trouble.drained ? "yes" : "no",
                    trouble.bad.empty() ? "-" : placement_text(trouble.bad)});
    nlohmann::json bad = nlohmann::json::array();
    for (const GpuId gpu : trouble.bad) bad.push_back(gpu.value);
    list.push_back({{"server", server.value},
                    {"name", t.server(server).name},
                    {"drained", trouble.drained},
                    {"bad_gpus", bad}});
  }
  if (o.json) {
    const nlohmann::json out{{"schema", 1},
                             {"agents", agents.size()},
                             {"quarantined_gpus", quarantined},
                             {"servers", list}};
    std::printf("%s\n", out.dump(1).c_str());
    return kDone;
  }
  if (!troubles.empty()) std::fputs(table_text(rows).c_str(), stdout);
  std::printf("%s of %s drained or have bad GPUs\n", with_commas(troubles.size()).c_str(),
              amount(t.server_count(), "server is", "servers are").c_str());
  if (waiting > 0)
    std::printf("%s of executors that do not answer\n",
                amount(waiting, "GPU is", "GPUs are").c_str());
  if (const std::uint32_t all = flock.agents(); agents.size() < all)
    std::printf("%zu of %s not answer\n", all - agents.size(),
                counted(all, "agent does", "agents do").c_str());
  return kDone;
}

}  // namespace

void add_topology_state(const Command& topology) {
  const auto o = std::make_shared<Options>();
  const Command command =
      topology.sub("state", "which servers of a running flock are drained, which GPUs bad");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.flag("--json", o->json, "only JSON on stdout");
  command.examples({"starling topology state --flock ~/flock"});
  command.action([o] { return state(*o); });
}

}  // namespace starling
