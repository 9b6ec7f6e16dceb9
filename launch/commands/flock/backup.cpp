// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>

#include "base/counted.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/deployment/deployment.h"
#include "launch/deployment/flock_owner.h"
#include "launch/flock/flock_backup.h"

namespace starling {
namespace {

struct Options {
  std::string flock, to, from;
  bool verify = false;
};

std::string text_of(const BackedUp& backup) {
  std::uint64_t records = 0;
  for (const BackedUp::Node& node : backup.nodes) records += node.records;
  return counted(backup.nodes.size(), "node") + ", " + counted(records, "record") + ", " +
         std::to_string(backup.files) + " files, made " + backup.made;
}

int run_backup(const Options& o) {
  if (o.verify) {
    const auto good = verify_backup(o.to);
    if (!good) return failed({good.error().code, "backup: " + good.error().message});
    std::printf("%s is whole: %s\n", o.to.c_str(), text_of(good.value()).c_str());
    return kDone;
  }
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  if (const Status may = may_manage(dir.value(), "backup"); !may.ok()) return failed(may.error());
  auto made = back_up(dir.value(), o.to);
  if (made) made = verify_backup(o.to);
  if (!made) return failed({made.error().code, "backup: " + made.error().message});
  std::printf("%s: %s\n", o.to.c_str(), text_of(made.value()).c_str());
  return kDone;
}

int run_restore(const Options& o) {
  const auto dir = flock_dir(o.flock);
  if (!dir) return failed(dir.error());
  if (is_deployment(dir.value())) {
    if (const Status may = may_manage(dir.value(), "restore"); !may.ok())
      return failed(may.error());
  }
  const auto restored = restore_backup(o.from, dir.value());
  if (!restored) return failed({restored.error().code, "restore: " + restored.error().message});
  std::printf("%s: %s\n", dir.value().c_str(), text_of(restored.value().backup).c_str());
  if (!restored.value().aside.empty())
    std::printf("what was there is in %s\n", restored.value().aside.c_str());
  if (restored.value().old_copies.empty()) {
    std::printf("nothing has happened since\n");
    return kDone;
  }
  std::string names;
  for (const std::string& name : restored.value().old_copies) names += " " + name;
  std::printf(
      "old copies:%s; what they did since the backup is lost, and jobs that were open in it may "
      "have run, so they fail with an unknown outcome; before 'up': starling accept-loss --all "
      "--flock %s\n",
      names.c_str(), dir.value().c_str());
  return kDone;
}

}  // namespace

void add_backup(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("backup", "a consistent copy of a flock on this machine, also of one at work");
  command.option("--flock", o->flock, "DIR", "where 'up' put the flock (default: $STARLING_FLOCK)");
  command.flag("--verify", o->verify, "only check that the backup in DIR is whole");
  command.positional("DIR", o->to, "the new folder; it holds keys, so it is yours alone");
  command.examples({"starling backup --flock ~/flock ~/flock-monday",
                    "starling backup --verify ~/flock-monday"});
  command.action([o] { return run_backup(*o); });
}

void add_restore(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command = root.sub("restore", "makes a flock anew from a backup");
  command.option("--flock", o->flock, "DIR",
                 "where it is to be (default: $STARLING_FLOCK); a stopped one there is put aside");
  command.positional("BACKUP", o->from, "folder that 'backup' made");
  command.examples({"starling restore ~/flock-monday --flock ~/flock"});
  command.action([o] { return run_restore(*o); });
}

}  // namespace starling
