// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "launch/client/session.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/hosts/keeper.h"
#include "launch/system/signals.h"
#include "launch/system/text.h"

namespace starling {
namespace {

struct Options {
  std::string flock, agent;
  bool json = false;
};

std::string agent_text(AgentId agent) { return "agent-" + std::to_string(agent.value); }

/// "0 3"; "-": none.
std::string partitions_text(const std::vector<PartitionId>& partitions) {
  std::string text;
  for (const PartitionId p : partitions)
    text += (text.empty() ? "" : " ") + std::to_string(p.value);
  return text.empty() ? "-" : text;
}

nlohmann::json numbers(const std::vector<PartitionId>& partitions) {
  nlohmann::json list = nlohmann::json::array();
  for (const PartitionId p : partitions) list.push_back(p.value);
  return list;
}

int list(const Options& o) {
  catch_stop_signals();
  auto flock = open_flock(o.flock);
  if (!flock) return failed(flock.error());
  const auto found = flock.value()->members();
  if (!found) return failed(found.error());
  nlohmann::json agents = nlohmann::json::array(), silent = nlohmann::json::array();
  std::vector<std::vector<std::string>> rows{{"agent", "member", "should serve", "serves"}};
  for (const MemberState& a : found.value().agents) {
    rows.push_back({agent_text(a.agent), a.member ? "yes" : "no", partitions_text(a.should_serve),
                    partitions_text(a.serves)});
    agents.push_back({{"agent", a.agent.value},
                      {"member", a.member},
                      {"should_serve", numbers(a.should_serve)},
                      {"serves", numbers(a.serves)}});
  }
  for (const AgentId agent : found.value().silent) silent.push_back(agent.value);
  if (o.json) {
    const nlohmann::json all{{"schema", 1}, {"silent", silent}, {"agents", agents}};
    std::printf("%s\n", all.dump(1).c_str());
  } else {
    std::fputs(table_text(rows).c_str(), stdout);
  }
  for (const std::string& line : daemon_troubles(flock.value()->deployment().dir))
    std::fprintf(stderr, "starling: %s\n", line.c_str());
  return kDone;
}

/// Says what changes and waits until every partition is where it should be.
int follow(FlockClient& flock, const MembersChange& change) {
  const auto begun = Session::now();
  for (const MembersChange::Move& move : change.moves) {
    std::printf("partition %u: %s -> %s\n", move.partition.value, agent_text(move.from).c_str(),
                agent_text(move.to).c_str());
  }
  std::fflush(stdout);
  const auto missing = flock.unserved(change);
  if (!missing) return failed(missing.error());
  if (!missing.value().empty()) {
    return work_failed("members: changed, but not yet served where they should be: partitions " +
                       partitions_text(missing.value()) +
                       "; a host that is not running gets its own when it is started");
  }
  std::printf("done after %.1f s\n", seconds(Session::now() - begun));
  return kDone;
}

int refused(const std::string& command, const Error& error) {
  return failed({error.code, "members " + command + ": " + error.message});
}

int add(const Options& o) {
  catch_stop_signals();
  auto flock = open_flock(o.flock);
  if (!flock) return failed(flock.error());
  const auto agent = flock.value()->agent_named(o.agent);
  if (!agent && !o.agent.empty()) {
    return bad_input("members add: '" + o.agent +
                     "' is no agent of this flock, which has agent-0 to agent-" +
                     std::to_string(flock.value()->agents() - 1));
  }
  const auto change = flock.value()->add_member(agent);
  if (!change) return refused("add", change.error());
  std::printf("%s is a member now\n", agent_text(change.value().agent).c_str());
  return follow(*flock.value(), change.value());
}

int remove(const Options& o) {
  catch_stop_signals();
  auto flock = open_flock(o.flock);
  if (!flock) return failed(flock.error());
  const auto agent = flock.value()->agent_named(o.agent);
  if (!agent)
    return bad_input("members remove: '" + o.agent + "' is no member; see 'starling members list'");
  const auto change = flock.value()->remove_member(*agent);
  if (!change) return refused("remove", change.error());
  return follow(*flock.value(), change.value());
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
    const Command sub =
        command.sub("list", "which agents are members, should serve what and serve what");
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
