#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launch/commands/learning.h"
#include "launch/exit_codes.h"
#include "launch/out_file.h"

namespace starling {
namespace {

namespace fs = std::filesystem;

/// Beside this program, as installed, or where a build leaves it.
fs::path trainer() {
  std::error_code ignored;
  const fs::path here = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const fs::path& file :
       {here / "starling-train", here.parent_path() / "gnn" / "train" / "starling-train"}) {
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

int train_interference(const Options& o) {
  const fs::path program = trainer();
  if (program.empty())
    return bad_input(
        "train: the program starling-train is not beside this one; it links libtorch and is built "
        "with -DSTARLING_TORCH=ON");
  if (const auto good = check_out_file(o.out); !good)
    return bad_input("train interference: --out: " + good.error().message);
  std::vector<std::string> words{program.string(), "interference",
                                 "--out",          o.out,
                                 "--set",          o.set,
                                 "--folds",        std::to_string(o.folds),
                                 "--members",      std::to_string(o.members),
                                 "--seed",         std::to_string(o.seed)};
  if (!o.data.empty()) words.insert(words.end(), {"--data", o.data});
  if (o.json) words.emplace_back("--json");
  if (o.quiet) words.emplace_back("--quiet");
  if (o.unchecked) words.emplace_back("--no-check");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  return work_failed("train: " + program.string() + ": " + std::strerror(errno));
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
}

}  // namespace starling
