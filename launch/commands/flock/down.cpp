// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/etcd_state.h"
#include "launch/deployment/flock_folder.h"
#include "launch/deployment/flock_owner.h"
#include "launch/deployment/state_dir.h"
#include "launch/hosts/host_flock.h"
#include "launch/hosts/preflight.h"

namespace starling {
namespace {

/// Asks the `up` that watches over the flock to stop, and waits for it. True if none is left.
bool end_up(const std::filesystem::path& dir) {
  const auto place = dir / "supervisor";
  for (int i = 0; i < 300; ++i) {
    if (StateDir::take(place).ok()) return true;
    if (i == 0) {
      if (const auto pid = StateDir::holder(place)) kill(*pid, SIGTERM);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return false;
}

/// What its agents wrote in etcd.
int forget_state(const std::filesystem::path& dir) {
  const auto deployment = read_deployment(dir);
  if (!deployment) return failed(deployment.error());
  const Status gone = forget_stopped_flock(deployment.value());
  return gone.ok() ? kDone : work_failed("down: nothing is removed: " + gone.error().message);
}

/// What Starling made in its directory, and nothing else.
int remove_here(const std::filesystem::path& dir) {
  const auto deployment = read_deployment(dir);
  if (!deployment) return failed(deployment.error());
  std::vector<std::string> nodes;
  for (const DeployedNode& node : deployment.value().nodes) nodes.push_back(node.name);
  const auto left = remove_flock_files(dir, nodes);
  if (!left) return work_failed("down: " + left.error().message);
  std::string names;
  for (const std::string& name : left.value()) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) {
    std::fprintf(stderr, "starling: left in %s, because it is not Starling's: %s\n", dir.c_str(),
                 names.c_str());
  }
  return kDone;
}

int down(const std::string& option, bool remove) {
  const auto dir = flock_dir(option);
  if (!dir) return failed(dir.error());
  if (!is_deployment(dir.value())) return failed(read_deployment(dir.value()).error());
  if (const Status may = may_manage(dir.value(), "down"); !may.ok()) return failed(may.error());
  if (!end_up(dir.value()))
    return work_failed("down: the 'starling up' of " + dir.value().string() + " does not end");
  if (is_host_flock(dir.value())) {
    const auto flock = read_host_flock(dir.value());
    if (!flock) return failed(flock.error());
    const Remote remote(flock.value().way);
    if (const Status s = together(stop_hosts(flock.value(), remote)); !s.ok())
      return failed(s.error());
    if (!remove) return kDone;
    // First what is least sure to answer: a second try finds the rest still there.
    if (const int code = forget_state(dir.value()); code != kDone) return code;
    std::vector<std::string> left;
    const Status removed = together(remove_hosts(flock.value(), remote, left));
    for (const std::string& line : left) std::fprintf(stderr, "starling: %s\n", line.c_str());
    if (!removed.ok()) return failed(removed.error());
  } else if (remove) {
    if (const int code = forget_state(dir.value()); code != kDone) return code;
  }
  return remove ? remove_here(dir.value()) : kDone;
}

}  // namespace

void add_down(const Command& root) {
  struct Options {
    std::string flock;
    bool remove = false;
  };
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("down", "stop a flock, here or on its hosts");
  command.option("--flock", o->flock, "DIR", "its directory; default $STARLING_FLOCK");
  command.flag("--remove", o->remove,
               "and remove what Starling made in its directories and its state in etcd, with all "
               "its jobs");
  command.examples({"starling down --flock ~/flock"});
  command.action([o] { return down(o->flock, o->remove); });
}

}  // namespace starling
