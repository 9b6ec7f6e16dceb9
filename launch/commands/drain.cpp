#include <cstdio>
#include <memory>

#include "launch/commands/commands.h"
#include "launch/exit_codes.h"
#include "launch/jobs/flock_view.h"
#include "launch/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock, server;
  bool undo = false, evict = false;
};

/// The server of that name or number.
std::optional<ServerId> server_named(const Topology& topology, const std::string& text) {
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    if (topology.server(ServerId{s}).name == text) return ServerId{s};
  }
  for (std::uint32_t s = 0; s < topology.server_count(); ++s) {
    if (std::to_string(s) == text) return ServerId{s};
  }
  return std::nullopt;
}

int drain(const Options& o) {
  if (o.undo && o.evict) return bad_input("drain: --evict is for a drain, not for its --undo");
  catch_stop_signals();
  auto found = FlockView::find(o.flock);
  if (!found) return failed(found.error());
  FlockView& flock = *found.value();
  const Topology& topology = flock.topology;
  const auto server = server_named(topology, o.server);
  if (!server) {
    const std::uint32_t last = topology.server_count() - 1;
    return bad_input("drain: '" + o.server + "' is no server; there are " +
                     topology.server(ServerId{0}).name + " to " +
                     topology.server(ServerId{last}).name + ", or 0 to " + std::to_string(last));
  }
  const AgentId owner = flock.owner_of(*server);
  if (Status connected = flock.connect(); !connected.ok()) return failed(connected.error());
  Session& s = *flock.session;
  const NodeId node = agent_node(owner);
  const std::string name = "agent-" + std::to_string(owner.value);
  const Duration patience = std::chrono::seconds(10);
  const auto any = [](const AgentStatus&) { return true; };
  if (!s.ask<AgentStatus>(node, StatusQuery{}, std::chrono::seconds(3), any))
    return work_failed("drain: " + name + " does not answer; is the flock up?");
  if (s.spoken_with(node) < 2)
    return work_failed("drain: " + name + " speaks protocol 1, which knows no drains");
  // Its version has to be above that of every word before; the owner says which was the last.
  std::optional<DrainState> answer;
  SetDrain word{*server, !o.undo, o.evict, 1};
  for (int tries = 0; tries < 5; ++tries) {
    answer = s.ask<DrainState>(node, word, patience, [&](const DrainState& state) {
      const bool late = state.why == Refusal::expired && state.version >= word.version;
      return state.server == *server && (late || state.drained != o.undo);
    });
    if (!answer || answer->why != Refusal::expired) break;
    word.version = answer->version + 1;
  }
  if (!answer) return work_failed("drain: " + name + " has not confirmed it; try again");
  const std::string& called = topology.server(*server).name;
  if (answer->why != Refusal::unknown)
    return work_failed("drain: " + name + " refuses: " + name_of(answer->why));
  if (o.undo) {
    std::printf("%s is in use again\n", called.c_str());
  } else {
    std::printf("%s is drained, %u attempts %s\n", called.c_str(), answer->attempts,
                o.evict ? "are requeued" : "still run there");
  }
  return kDone;
}

}  // namespace

void add_drain(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("drain", "place nothing new on a server, so that it can be taken out of use");
  command.positional("SERVER", o->server, "its name or number in the topology");
  command.flag("--undo", o->undo, "use it again");
  command.flag("--evict", o->evict, "requeue what runs there, instead of letting it end");
  command.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  command.examples({"starling drain server-3 --evict", "starling drain server-3 --undo"});
  command.action([o] { return drain(*o); });
}

}  // namespace starling
