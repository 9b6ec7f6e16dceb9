// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "launch/client/session.h"
#include "launch/command_line/exit_codes.h"
#include "launch/command_line/signals.h"
#include "launch/command_line/text.h"
#include "launch/commands/commands.h"
#include "launch/hosts/flock_hosts.h"
#include "launch/hosts/keeper.h"

namespace starling {
namespace {

constexpr Duration kPatience = std::chrono::seconds(20);

struct Options {
  std::string flock, agent;
  bool json = false;
};

std::string agent_text(AgentId agent) { return "agent-" + std::to_string(agent.value); }

struct Opened {
  Deployment flock;
  FlockHosts hosts;
  FlockMembers members;
};

Result<Opened> open(const Options& o) {
  auto dir = flock_dir(o.flock);
  if (!dir) return dir.error();
  auto flock = read_deployment(dir.value());
  if (!flock) return flock.error();
  auto hosts = FlockHosts::open(flock.value());
  if (!hosts) return hosts.error();
  auto members = hosts.value().read();
  if (!members) return members.error();
  return Opened{std::move(flock).value(), std::move(hosts).value(), std::move(members).value()};
}

/// Which host serves each partition now, as far as one answers.
std::map<PartitionId, AgentId> served(Session& session, Duration patience) {
  std::map<PartitionId, AgentId> hosts;
  for (const AgentStatus& status : session.status(patience))
    hosts[status.fence.partition] = session.host_of(status.agent);
  return hosts;
}

int list(const Options& o) {
  catch_stop_signals();
  auto opened = open(o);
  if (!opened) return failed(opened.error());
  Opened& f = opened.value();
  auto session = Session::open(f.flock);
  if (!session) return failed(session.error());
  const auto now = served(*session.value(), std::chrono::seconds(2));
  const std::set<AgentId> members = f.hosts.all(f.members);
  nlohmann::json rows_json = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"agent", "member", "should serve", "serves"}};
  for (std::uint32_t a = 0; a < f.flock.agents(); ++a) {
    std::string should, does;
    nlohmann::json should_json = nlohmann::json::array(), does_json = nlohmann::json::array();
    for (std::uint32_t p = 0; p < f.flock.agents(); ++p) {
      if (f.members.host_of(PartitionId{p}).value == a) {
        should += (should.empty() ? "" : " ") + std::to_string(p);
        should_json.push_back(p);
      }
      const auto host = now.find(PartitionId{p});
      if (host != now.end() && host->second.value == a) {
        does += (does.empty() ? "" : " ") + std::to_string(p);
        does_json.push_back(p);
      }
    }
    const bool member = members.contains(AgentId{a});
    rows.push_back({agent_text(AgentId{a}), member ? "yes" : "no", should.empty() ? "-" : should,
                    does.empty() ? "-" : does});
    rows_json.push_back(
        {{"agent", a}, {"member", member}, {"should_serve", should_json}, {"serves", does_json}});
  }
  if (o.json) {
    std::printf("%s\n", nlohmann::json{{"schema", 1}, {"agents", rows_json}}.dump(1).c_str());
  } else {
    std::fputs(table_text(rows).c_str(), stdout);
  }
  for (const std::string& line : daemon_troubles(f.flock.dir))
    std::fprintf(stderr, "starling: %s\n", line.c_str());
  return kDone;
}

/// Writes the new members and waits until every partition is where it should be.
int change(Opened& f, std::set<AgentId> hosts) {
  const auto next = f.hosts.with(f.members, std::move(hosts));
  if (!next) return bad_input("members: " + next.error().message);
  if (const Status written = f.hosts.write(next.value()); !written.ok())
    return work_failed("members: " + written.error().message);
  const auto begun = Session::now();
  for (std::uint32_t p = 0; p < f.flock.agents(); ++p) {
    const AgentId from = f.members.host_of(PartitionId{p}),
                  to = next.value().host_of(PartitionId{p});
    if (from == to) continue;
    std::printf("partition %u: %s -> %s\n", p, agent_text(from).c_str(), agent_text(to).c_str());
  }
  std::fflush(stdout);
  auto session = Session::open(f.flock);
  if (!session) return failed(session.error());
  std::string missing;
  while (Session::now() < later(begun, kPatience) && !stop_requested()) {
    const auto now = served(*session.value(), std::chrono::milliseconds(500));
    missing.clear();
    for (std::uint32_t p = 0; p < f.flock.agents(); ++p) {
      const auto host = now.find(PartitionId{p});
      if (host == now.end() || host->second != next.value().host_of(PartitionId{p}))
        missing += " " + std::to_string(p);
    }
    if (missing.empty()) {
      std::printf("done after %.1f s\n", seconds(Session::now() - begun));
      return kDone;
    }
    session.value()->receive(later(Session::now(), std::chrono::milliseconds(50)));
  }
  return work_failed("members: changed, but not yet served where they should be: partitions" +
                     missing + "; a host that is not running gets its own when it is started");
}

int add(const Options& o) {
  catch_stop_signals();
  auto opened = open(o);
  if (!opened) return failed(opened.error());
  Opened& f = opened.value();
  std::set<AgentId> hosts = f.hosts.all(f.members);
  std::optional<AgentId> agent;
  if (!o.agent.empty()) {
    agent = agent_named(f.flock, o.agent);
    if (!agent) {
      return bad_input("members add: '" + o.agent +
                       "' is no agent of this flock, which has agent-0 to agent-" +
                       std::to_string(f.flock.agents() - 1));
    }
  }
  for (std::uint32_t a = 0; !agent && a < f.flock.agents(); ++a) {
    if (!hosts.contains(AgentId{a})) agent = AgentId{a};
  }
  if (!agent || hosts.contains(*agent)) {
    return bad_input("members add: " + (agent ? agent_text(*agent) + " is a member already"
                                              : std::string("all agents are members; a flock made "
                                                            "with more --partitions has room")));
  }
  hosts.insert(*agent);
  std::printf("%s is a member now\n", agent_text(*agent).c_str());
  return change(f, std::move(hosts));
}

int remove(const Options& o) {
  catch_stop_signals();
  auto opened = open(o);
  if (!opened) return failed(opened.error());
  Opened& f = opened.value();
  std::set<AgentId> hosts = f.hosts.all(f.members);
  const auto agent = agent_named(f.flock, o.agent);
  if (!agent || !hosts.contains(*agent))
    return bad_input("members remove: '" + o.agent + "' is no member; see 'starling members list'");
  if (hosts.size() == 1)
    return bad_input("members remove: " + agent_text(*agent) + " is the last member");
  hosts.erase(*agent);
  return change(f, std::move(hosts));
}

}  // namespace

void add_members(const Command& root) {
  const Command command =
      root.sub("members", "which agents serve the partitions of a flock with state in etcd");
  const auto options = [](const Command& of, const std::shared_ptr<Options>& o) {
    of.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  };
  {
    const auto o = std::make_shared<Options>();
    const Command sub = command.sub("list", "who is a member, should serve what and serves what");
    options(sub, o);
    sub.flag("--json", o->json, "only JSON on stdout");
    sub.action([o] { return list(*o); });
  }
  {
    const auto o = std::make_shared<Options>();
    const Command sub =
        command.sub("add", "one agent more; 'starling up' starts it, and partitions move to it");
    sub.positional("AGENT", o->agent, "its name or number; default: the first that is none", false);
    options(sub, o);
    sub.examples({"starling members add agent-3"});
    sub.action([o] { return add(*o); });
  }
  {
    const auto o = std::make_shared<Options>();
    const Command sub =
        command.sub("remove", "its partitions go to the others at once, and it ends");
    sub.positional("AGENT", o->agent, "its name or number");
    options(sub, o);
    sub.examples({"starling members remove agent-1"});
    sub.action([o] { return remove(*o); });
  }
}

}  // namespace starling
