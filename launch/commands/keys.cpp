#include "bus/keys.h"

#include <chrono>
#include <cstdio>
#include <memory>

#include "bus/flock.h"
#include "launch/commands/commands.h"
#include "launch/deployment.h"
#include "launch/exit_codes.h"
#include "launch/hosts/key_rotation.h"
#include "launch/signals.h"
#include "launch/state_dir.h"

namespace starling {
namespace {

int make_keys(const std::string& file) {
  auto keys = generate_keys();
  if (!keys) return failed(keys.error());
  if (auto s = write_key_file(file, keys.value()); !s.ok()) {
    return s.error().code == Errc::conflict ? bad_input(s.error().message) : failed(s.error());
  }
  std::printf("%s\n", keys.value().public_key.c_str());
  return kDone;
}

int show_keys(const std::string& option) {
  auto dir = flock_dir(option);
  if (!dir) return failed(dir.error());
  auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  auto members = read_flock(dir.value() / "flock.json");
  if (!members) return bad_input(members.error().message);
  for (const DeployedNode& node : deployment.value().nodes) {
    const auto member = members.value().find(node.id);
    if (member == members.value().end()) continue;
    std::printf("%-16s %s\n", node.name.c_str(), member->second.public_key.c_str());
    for (std::uint32_t i = 1; i < member->second.seats(); ++i) {
      const AgentId host = host_of_seat(node.partition, i, deployment.value().agents());
      const std::string place = node.name + "@agent-" + std::to_string(host.value);
      std::printf("%-16s %s\n", place.c_str(), member->second.seat(i).public_key.c_str());
    }
  }
  return kDone;
}

int rotate(const std::string& option, const std::string& node) {
  catch_stop_signals();
  const auto dir = flock_dir(option);
  if (!dir) return failed(dir.error());
  const auto deployment = read_deployment(dir.value());
  if (!deployment) return failed(deployment.error());
  // Two rotations at once would undo each other.
  const auto place = StateDir::take(dir.value() / "rotation");
  if (!place) return bad_input("keys rotate: " + place.error().message);
  const auto key = rotate_key(deployment.value(), node, std::chrono::seconds(20));
  if (!key) return failed(key.error());
  std::printf("%s %s\n", node.c_str(), key.value().c_str());
  return kDone;
}

}  // namespace

void add_keys(const Command& root) {
  const Command command = root.sub("keys", "CURVE keys of the nodes");
  const auto file = std::make_shared<std::string>();
  const Command make = command.sub("new", "write a new key pair to FILE, print its public half");
  make.positional("FILE", *file, "readable by you alone");
  make.examples({"starling keys new agent-9.json"});
  make.action([file] { return make_keys(*file); });
  const auto flock = std::make_shared<std::string>();
  const Command show = command.sub(
      "show", "the public keys that a flock lets in; agent-0@agent-1: agent 1 in the place of 0");
  show.option("--flock", *flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  show.examples({"starling keys show --flock ~/flock"});
  show.action([flock] { return show_keys(*flock); });
  const auto node = std::make_shared<std::string>();
  const Command turn =
      command.sub("rotate", "new keys for a node of a flock, which may be running meanwhile");
  turn.option("--flock", *flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  turn.positional("NODE", *node, "as 'keys show' names it: agent-0, executor-3");
  turn.examples({"starling keys rotate agent-0 --flock ~/flock"});
  turn.action([flock, node] { return rotate(*flock, *node); });
}

}  // namespace starling
