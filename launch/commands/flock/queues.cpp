// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/counted.h"
#include "base/visible.h"
#include "launch/command_line/exit_codes.h"
#include "launch/commands/commands.h"
#include "launch/commands/open_flock.h"
#include "launch/jobs/queues_shown.h"
#include "launch/system/signals.h"
#include "workload/queue_file.h"

namespace starling {
namespace {

struct Options {
  std::string flock, file;
  bool json = false, yaml = false, dry_run = false;
};

constexpr const char* kNoQueues =
    "there are no queues, and nothing is limited; 'starling queues set FILE' sets some\n";

int show(const Options& o) {
  if (o.json && o.yaml) return bad_input("queues: --json and --yaml exclude each other");
  catch_stop_signals();
  auto flock = open_flock(o.flock);
  if (!flock) return failed(flock.error());
  const auto found = flock.value()->queues();
  if (!found) return failed({found.error().code, "queues: " + found.error().message});
  const QueuesState& state = found.value();
  if (!state.reason.empty())
    std::fprintf(stderr, "queues: %s\n", visible_line(state.reason).c_str());
  if (o.json) {
    nlohmann::json all = queues_json(state);
    all["schema"] = 1;
    std::printf("%s\n", all.dump(1, ' ', true, nlohmann::json::error_handler_t::replace).c_str());
  } else if (state.tree.queues.empty() && !o.yaml) {
    std::fputs(kNoQueues, stdout);
  } else {
    std::fputs((o.yaml ? queue_file_text(state.tree) : queues_table(state)).c_str(), stdout);
  }
  return kDone;
}

int set(const Options& o) {
  const auto tree = read_queue_file(o.file);
  if (!tree) return bad_input(tree.error().message);
  catch_stop_signals();
  auto flock = open_flock(o.flock);
  if (!flock) return failed(flock.error());
  const auto refused = [](const Error& error) {
    return failed({error.code, "queues set: " + error.message});
  };
  const auto before = flock.value()->queues();
  if (!before) return refused(before.error());
  const auto changes = queue_changes(before.value().tree, tree.value());
  for (const std::string& line : changes) std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  const std::string beyond = guarantees_beyond(tree.value(), flock.value()->topology().gpu_count());
  if (!beyond.empty()) std::fprintf(stderr, "starling: queues set: %s\n", beyond.c_str());
  if (o.dry_run) {
    std::printf("%s\n", changes.empty() ? "nothing would change" : "nothing was changed");
    return kDone;
  }
  const auto after = flock.value()->set_queues(tree.value());
  if (!after) return refused(after.error());
  std::printf("%s\n",
              changes.empty() ? "these queues are in force already" : "these queues are in force");
  return kDone;
}

int check(const Options& o) {
  const auto tree = read_queue_file(o.file);
  if (!tree) return bad_input(tree.error().message);
  std::printf("%s: %s\n", o.file.c_str(), counted(tree.value().queues.size(), "queue").c_str());
  return kDone;
}

}  // namespace

void add_queues(const Command& root) {
  const auto o = std::make_shared<Options>();
  const Command command =
      root.sub("queues", "how many GPUs each queue and user may have, and has; sets other queues");
  const auto flock = [&o](const Command& of) {
    of.option("--flock", o->flock, "DIR", "directory of the flock; default $STARLING_FLOCK");
  };
  flock(command);
  command.flag("--json", o->json, "only JSON on stdout");
  command.examples({"starling queues", "starling queues set queues.yaml --dry-run"});
  {
    const Command sub = command.sub("show", "the queues in force; as 'starling queues' alone");
    flock(sub);
    sub.flag("--json", o->json, "only JSON on stdout");
    sub.flag("--yaml", o->yaml, "as a file that 'starling queues set' takes");
    sub.examples({"starling queues show --yaml > queues.yaml"});
    sub.action([o] { return show(*o); });
  }
  {
    const Command sub = command.sub("set", "for operators: puts the queues of a file into force");
    sub.positional("FILE", o->file, "the queues, in YAML (docs/queues.md)");
    flock(sub);
    sub.flag("--dry-run", o->dry_run, "say what would change, and change nothing");
    sub.examples({"starling queues set queues.yaml", "starling queues set queues.yaml --dry-run"});
    sub.action([o] { return set(*o); });
  }
  {
    const Command sub = command.sub("check", "whether a file of queues is right; asks no flock");
    sub.positional("FILE", o->file, "the queues, in YAML (docs/queues.md)");
    sub.examples({"starling queues check queues.yaml"});
    sub.action([o] { return check(*o); });
  }
  command.action([o] { return show(*o); });
}

}  // namespace starling
