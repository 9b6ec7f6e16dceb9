// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "base/counted.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/system/signals.h"

namespace starling {
namespace {

struct Options {
  std::string flock, server;
  bool undo = false, evict = false;
};

int drain(const Options& o) {
  if (o.undo && o.evict) return bad_input("drain: --evict is for a drain, not for its --undo");
  catch_stop_signals();
  auto found = open_flock(o.flock);
  if (!found) return failed(found.error());
  FlockClient& flock = *found.value();
  const Topology& topology = flock.topology();
  const auto server = flock.server_named(o.server);
  if (!server) {
    const std::uint32_t last = topology.server_count() - 1;
    return bad_input("drain: '" + o.server + "' is no server; there are " +
                     topology.server(ServerId{0}).name + " to " +
                     topology.server(ServerId{last}).name + ", or 0 to " + std::to_string(last));
  }
  if (Status connected = flock.connect(); !connected.ok()) return failed(connected.error());
  const auto answer = flock.drain({*server, !o.undo, o.evict, 0});
  if (!answer) return work_failed("drain: " + answer.error().message);
  const std::string& called = topology.server(*server).name;
  if (o.undo) {
    std::printf("%s is in use again\n", called.c_str());
  } else {
    const std::string attempts =
        o.evict ? counted(answer.value().attempts, "attempt is", "attempts are") + " requeued"
                : counted(answer.value().attempts, "attempt runs", "attempts run") + " on there";
    std::printf("%s is drained, %s\n", called.c_str(), attempts.c_str());
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
