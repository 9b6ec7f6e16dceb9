#include "bus/keys.h"

#include <cstdio>
#include <memory>

#include "bus/flock.h"
#include "launch/commands/commands.h"
#include "launch/deployment.h"
#include "launch/exit_codes.h"

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
    if (member != members.value().end())
      std::printf("%-14s %s\n", node.name.c_str(), member->second.public_key.c_str());
  }
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
  const Command show = command.sub("show", "the public keys that a flock lets in");
  show.option("--flock", *flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  show.examples({"starling keys show --flock ~/flock"});
  show.action([flock] { return show_keys(*flock); });
}

}  // namespace starling
