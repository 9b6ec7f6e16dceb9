// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "launch/command_line/exit_codes.h"
#include "launch/command_line/out_file.h"
#include "launch/commands/learning.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Beside this program, as installed, or where a build leaves it.
fs::path trainer() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& file : {here / "starling-train", here / "train" / "starling-train"}) {
    if (fs::exists(file, ignored)) return file;
  }
  return {};
}

struct Options {
  std::string data, out = "interference.weights", set = "open";
  std::uint32_t folds = 5, members = 6;
  std::uint64_t seed = 1;
  bool json = false, quiet = false, unchecked = false;
};

struct PolicyTraining {
  std::string config, data, out, folder = "training";
  std::uint32_t threads = 2;
  bool resume = false, json = false, quiet = false;
};

/// Becomes the trainer; comes back only where that fails.
int become_trainer(std::vector<std::string> words) {
  const fs::path program = trainer();
  if (program.empty())
    return bad_input(
        "train: the program starling-train is not beside this one; it links libtorch and is built "
        "with -DSTARLING_TORCH=ON");
  words.insert(words.begin(), program.string());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  return work_failed("train: " + program.string() + ": " + std::strerror(errno));
}

int train_policy(const PolicyTraining& o) {
  if (o.config.empty())
    return bad_input(
        "train policy: --config FILE is missing: the stages of training, such as "
        "examples/training/marl.yaml");
  std::vector<std::string> words{
      "policy", "--config", o.config, "--folder", o.folder, "--threads", std::to_string(o.threads)};
  if (!o.out.empty()) {
    if (const auto good = check_out_file(o.out, OutKind::weights); !good)
      return bad_input("train policy: --out: " + good.error().message);
    words.insert(words.end(), {"--out", o.out});
  }
  if (!o.data.empty()) words.insert(words.end(), {"--data", o.data});
  if (o.resume) words.emplace_back("--resume");
  if (o.json) words.emplace_back("--json");
  if (o.quiet) words.emplace_back("--quiet");
  return become_trainer(std::move(words));
}

int train_interference(const Options& o) {
  if (const auto good = check_out_file(o.out, OutKind::weights); !good)
    return bad_input("train interference: --out: " + good.error().message);
  std::vector<std::string> words{"interference",
                                 "--out",
                                 o.out,
                                 "--set",
                                 o.set,
                                 "--folds",
                                 std::to_string(o.folds),
                                 "--members",
                                 std::to_string(o.members),
                                 "--seed",
                                 std::to_string(o.seed)};
  if (!o.data.empty()) words.insert(words.end(), {"--data", o.data});
  if (o.json) words.emplace_back("--json");
  if (o.quiet) words.emplace_back("--quiet");
  if (o.unchecked) words.emplace_back("--no-check");
  return become_trainer(std::move(words));
}

}  // namespace

void add_train(const Command& root) {
  const Command all = root.sub("train", "train the networks that agents run");
  const Command command = all.sub(
      "interference", "how much jobs slow one another that share a GPU, a link or a server");
  const auto o = std::make_shared<Options>();
  command.option("--data", o->data, "DIR|FILE",
                 "the published data: gavel/, deepshare/, synergy/, or lucid/; default "
                 "$STARLING_DATA");
  command.option("--out", o->out, "FILE", "the weights (default interference.weights)");
  command.option("--set", o->set, "open|lucid|profile",
                 "open: what may be passed on; lucid: Lucid's pairs, whose licence forbids that; "
                 "profile: --data is a table of 'starling profile' (default open)");
  command.option("--folds", o->folds, "K", "of the cross-validation (default 5)", 2U, 20U);
  command.option("--members", o->members, "N", "networks of the ensemble (default 6)", 2U, 16U);
  command.option("--seed", o->seed, "S", "same seed, same weights (default 1)", std::uint64_t{0},
                 ~std::uint64_t{0});
  command.flag("--no-check", o->unchecked, "no cross-validation: intervals are then a guess");
  command.flag("--json", o->json, "only JSON on stdout");
  command.flag("-q,--quiet", o->quiet, "no progress on stderr");
  command.examples({"starling train interference --data shared/data --out my.weights"});
  command.action([o] { return train_interference(*o); });

  const Command policy = all.sub("policy", "where jobs go, and when they wait");
  const auto p = std::make_shared<PolicyTraining>();
  policy.option("--config", p->config, "FILE", "suite and stages, see docs/learning.md");
  policy.option("--data", p->data, "DIR",
                "what ${DATA} stands for in the suite; default $STARLING_DATA");
  policy.option("--out", p->out, "FILE",
                "the weights (default POLICY.weights, as the configuration's train: says)");
  policy.option("--folder", p->folder, "DIR", "for checkpoints and train.jsonl (default training)");
  policy.option("--threads", p->threads, "N", "runs at once (default 2)", 1U, 1024U);
  policy.flag("--resume", p->resume,
              "go on from the last checkpoint of the same configuration and data");
  policy.flag("--json", p->json, "only JSON on stdout");
  policy.flag("-q,--quiet", p->quiet, "no progress on stderr");
  policy.examples(
      {"starling train policy --config examples/training/marl.yaml --data shared/data --out "
       "my.weights",
       "starling run --policy marl:weights=my.weights --topology dc.yaml --trace jobs.csv"});
  policy.action([p] { return train_policy(*p); });
  add_train_dl2(all);
}

}  // namespace starling
