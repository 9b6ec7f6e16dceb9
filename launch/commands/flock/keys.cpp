// SPDX-License-Identifier: Apache-2.0
#include "bus/keys.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>

#include "base/login_name.h"
#include "bus/flock.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/state_dir.h"
#include "launch/flock/flock_users.h"
#include "launch/hosts/key_rotation.h"
#include "launch/system/signals.h"

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

constexpr auto kPatience = std::chrono::seconds(20);

/// "  user 'ann', operator" of a client place.
std::string holder_text(const Member& member) {
  if (member.holder.user.empty()) return "";
  return "  user '" + member.holder.user + "'" + (member.holder.is_operator ? ", operator" : "");
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
    std::printf("%-16s %s%s\n", node.name.c_str(), member->second.public_key.c_str(),
                holder_text(member->second).c_str());
    for (std::uint32_t i = 1; i < member->second.seats(); ++i) {
      const AgentId host = host_of_seat(node.partition, i, deployment.value().agents());
      const std::string place = node.name + "@agent-" + std::to_string(host.value);
      std::printf("%-16s %s\n", place.c_str(), member->second.seat(i).public_key.c_str());
    }
  }
  for (const Member* place : granted_places(deployment.value(), members.value())) {
    const std::string name = granted_name(place->holder.user);
    if (deployment.value().find(name) != nullptr) continue;
    std::printf("%-16s %s%s\n", name.c_str(), place->public_key.c_str(),
                holder_text(*place).c_str());
  }
  return kDone;
}

struct GrantOptions {
  std::string flock, user, out;
  bool is_operator = false;
};

/// A flock whose flock.json no other process changes: two at once would undo each other.
struct Alone {
  Deployment deployment;
  StateDir place;
};

Result<Alone> alone(const std::string& option, const std::string& command) {
  auto dir = flock_dir(option);
  if (!dir) return dir.error();
  auto deployment = read_deployment(dir.value());
  if (!deployment) return deployment.error();
  const std::filesystem::path file = deployment.value().dir / "flock.json";
  if (::access(file.c_str(), W_OK) != 0 && errno == EACCES) {
    return Error{Errc::invalid, command + ": " + file.string() + " is not writable for user '" +
                                    login_name() + "'; it is changed by who brought the flock up"};
  }
  auto place = StateDir::take(deployment.value().dir / "rotation");
  if (!place) return Error{Errc::invalid, command + ": " + place.error().message};
  return Alone{std::move(deployment).value(), std::move(place).value()};
}

int grant_keys(const GrantOptions& o) {
  catch_stop_signals();
  const auto flock = alone(o.flock, "keys grant");
  if (!flock) return failed(flock.error());
  ::umask(022);  // what is written for all is to be readable for all
  const auto number = flock.value().place.next_incarnation();
  if (!number) return failed(number.error());
  const auto made = grant(flock.value().deployment,
                          {o.user, o.is_operator, number.value().value, o.out}, kPatience);
  if (!made) return failed(made.error());
  const std::string dir = std::filesystem::absolute(made.value().flock).string();
  const char* const what = o.is_operator ? "an operator" : "a user";
  if (made.value().handed_over) {
    std::printf("'%s' is %s of the flock; they use it with\n  export STARLING_FLOCK=%s\n",
                o.user.c_str(), what, dir.c_str());
  } else {
    std::printf(
        "'%s' is %s of the flock, once they have got %s: with all that is in it, as their "
        "own, mode 0700, and over a way that no other user can read; then remove it here\n",
        o.user.c_str(), what, dir.c_str());
  }
  return kDone;
}

int revoke_keys(const GrantOptions& o) {
  catch_stop_signals();
  const auto flock = alone(o.flock, "keys revoke");
  if (!flock) return failed(flock.error());
  ::umask(022);
  if (const Status s = revoke(flock.value().deployment, o.user, kPatience); !s.ok())
    return failed(s.error());
  std::printf("'%s' is let in no more; their jobs go on: 'starling cancel --user %s' ends them\n",
              o.user.c_str(), o.user.c_str());
  return kDone;
}

int rotate(const std::string& option, const std::string& node) {
  catch_stop_signals();
  const auto flock = alone(option, "keys rotate");
  if (!flock) return failed(flock.error());
  const auto key = rotate_key(flock.value().deployment, node, kPatience);
  if (!key) return failed(key.error());
  std::printf("%s %s\n", node.c_str(), key.value().c_str());
  return kDone;
}

}  // namespace

void add_keys(const Command& root) {
  const Command command = root.sub("keys", "CURVE keys of the nodes, and who may use the flock");
  const auto file = std::make_shared<std::string>();
  const Command make = command.sub("new", "write a new key pair to FILE, print its public half");
  make.positional("FILE", *file, "readable by you alone");
  make.examples({"starling keys new agent-9.json"});
  make.action([file] { return make_keys(*file); });
  const auto flock = std::make_shared<std::string>();
  const Command show = command.sub(
      "show",
      "the public keys that a flock lets in, and whose they are; agent-0@agent-1: agent 1 in the "
      "place of 0");
  show.option("--flock", *flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  show.examples({"starling keys show --flock ~/flock"});
  show.action([flock] { return show_keys(*flock); });
  const auto node = std::make_shared<std::string>();
  const Command rotation =
      command.sub("rotate", "new keys for a node of a flock, which may be running meanwhile");
  rotation.option("--flock", *flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  rotation.positional("NODE", *node, "as 'keys show' names it: agent-0, executor-3");
  rotation.examples({"starling keys rotate agent-0 --flock ~/flock"});
  rotation.action([flock, node] { return rotate(*flock, *node); });
  const auto o = std::make_shared<GrantOptions>();
  const Command let_in = command.sub("grant", "let a user of this machine into the flock");
  let_in.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  let_in.flag("--operator", o->is_operator,
              "may cancel everybody's jobs, and drain servers (default: their own jobs alone)");
  let_in.option("--out", o->out, "DIR",
                "a new folder for all that they need, for use instead of the flock's directory or "
                "on another machine");
  let_in.positional("USER", o->user, "their login name");
  let_in.examples({"starling keys grant ann --flock /srv/flock",
                   "starling keys grant bob --operator --out /home/bob/flock"});
  let_in.action([o] { return grant_keys(*o); });
  const Command keep_out = command.sub("revoke", "let a user in no more; their jobs go on");
  keep_out.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  keep_out.positional("USER", o->user, "as 'keys show' names them");
  keep_out.examples({"starling keys revoke ann --flock /srv/flock"});
  keep_out.action([o] { return revoke_keys(*o); });
}

}  // namespace starling
