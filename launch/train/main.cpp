// SPDX-License-Identifier: Apache-2.0
// starling-train: the program that links libtorch, so that no other has to. `starling train` starts
// it.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "base/hash.h"
#include "interference/train/train_interference.h"
#include "launch/command_line/out_file.h"
#include "launch/train/policy_config.h"
#include "nets/weights.h"

namespace {

constexpr int kWorkFailed = 1;
constexpr int kBadUsage = 2;

int fail(const starling::Error& error, int code) {
  std::fprintf(stderr, "starling-train: %s\n", error.message.c_str());
  return code;
}

// A bar where stderr is a terminal, otherwise a line every ten seconds.
class Progress {
 public:
  explicit Progress(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) == 1) {}
  ~Progress() {
    if (drawn_) std::fputc('\n', stderr);
  }
  void show(double part, const std::string& what) {
    const auto now = std::chrono::steady_clock::now();
    if (quiet_ || now - last_ < (terminal_ ? std::chrono::milliseconds(200)
                                           : std::chrono::milliseconds(10'000)))
      return;
    last_ = now;
    const double s = std::chrono::duration<double>(now - began_).count();
    if (!terminal_) {
      std::fprintf(stderr, "%3.0f %%  %.0f s  %s\n", 100 * part, s, what.c_str());
      return;
    }
    drawn_ = true;
    const auto full = static_cast<std::size_t>(part * 30);
    std::fprintf(stderr, "\r[%s%s] %3.0f %%  %.0f s  %-44s", std::string(full, '#').c_str(),
                 std::string(30 - full, ' ').c_str(), 100 * part, s, what.c_str());
  }

 private:
  bool quiet_, terminal_, drawn_ = false;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now(), last_{};
};

int interference(starling::InterferenceTrainOptions options, const std::string& file, bool json,
                 bool quiet) {
  if (const auto good = starling::check_out_file(file, starling::OutKind::weights); !good)
    return fail(good.error(), kBadUsage);
  Progress progress(quiet);
  options.progress = [&](double part, const std::string& what) { progress.show(part, what); };
  const auto trained = starling::train_interference(options);
  if (!trained) return fail(trained.error(), kBadUsage);
  if (const auto saved = starling::save_weights(file, trained.value().weights); !saved)
    return fail(saved.error(), kWorkFailed);
  const std::string text =
      json ? starling::to_json(trained.value()) : starling::to_text(trained.value());
  std::fputs(text.c_str(), stdout);
  return 0;
}

struct PolicyTraining {
  std::string config, out, folder = "training";  // no out: the policy's name, .weights
  std::uint32_t threads = 2;
  bool resume = false, json = false, quiet = false;
};

int policy(const PolicyTraining& o, const std::string& data, const std::string& date) {
  const auto at = starling::rendezvous_from_environment();
  if (!at) return fail(at.error(), kBadUsage);
  auto read = starling::load_policy_config(o.config);
  if (!read) return fail(read.error(), kBadUsage);
  starling::PolicyConfig config = std::move(read).value();
  for (const std::string& note : config.notes) std::cerr << note << "\n";
  const std::string out = o.out.empty() ? config.name + ".weights" : o.out;
  if (const auto good = starling::check_out_file(out, starling::OutKind::weights); !good)
    return fail(good.error(), kBadUsage);
  starling::Variables variables;
  if (!data.empty()) {
    variables["DATA"] = data;
  } else if (const std::string place = starling::place_of_data(config.suite); !place.empty()) {
    return fail({starling::Errc::invalid,
                 place + ": ${DATA} has no value; give --data DIR, or export STARLING_DATA=DIR"},
                kBadUsage);
  }
  const auto training = starling::scenarios_of(config, "training", variables);
  if (!training) return fail(training.error(), kBadUsage);
  auto validation = starling::scenarios_of(config, "validation", variables);
  if (!validation) return fail(validation.error(), kBadUsage);
  std::vector<starling::Scenario> some = std::move(validation).value();
  if (config.validation_runs > 0 && config.validation_runs < some.size()) {
    // Spread evenly over topologies, weeks and loads.
    std::vector<starling::Scenario> fewer;
    for (std::uint32_t i = 0; i < config.validation_runs; ++i)
      fewer.push_back(some[i * some.size() / config.validation_runs]);
    some = std::move(fewer);
  }
  starling::TraceHash hash;
  hash.add(config.text);
  const auto add = [&](const std::vector<starling::Scenario>& runs) {
    for (const starling::Scenario& scenario : runs) {
      hash.add(scenario.name);
      for (const auto& job : scenario.trace.jobs) hash.add(job.spec.name + job.spec.model);
    }
  };
  add(training.value());
  add(some);
  Progress progress(o.quiet || at.value().rank > 0);
  config.train.progress = [&](double part, const std::string& what) { progress.show(part, what); };
  config.train.threads = o.threads;
  config.train.folder = o.folder;
  config.train.resume = o.resume;
  config.train.hash = std::to_string(hash.value());
  const auto processes = starling::rendezvous(at.value());
  if (!processes) return fail(processes.error(), kWorkFailed);
  config.train.processes = processes.value().get();
  std::error_code error;
  std::filesystem::create_directories(o.folder, error);
  if (error) {
    return fail({starling::Errc::io, "--folder " + o.folder + ": " + error.message()}, kBadUsage);
  }
  auto trained = starling::train_policy(training.value(), some, config.train);
  if (!trained) {
    const bool folder = trained.error().code == starling::Errc::conflict;
    return fail(trained.error(), folder ? kBadUsage : kWorkFailed);
  }
  if (!processes.value()->first()) return 0;  // the first process tells and writes
  starling::Weights& weights = trained.value().weights;
  weights.notes["name"] = config.name;
  weights.notes["date"] = date;
  weights.notes["config"] = config.text;
  if (const auto saved = starling::save_weights(out, weights); !saved)
    return fail(saved.error(), kWorkFailed);
  const std::vector<double>& reached = trained.value().validation;
  if (o.json) {
    const nlohmann::ordered_json said{{"weights", out}, {"validation", reached}};
    std::puts(said.dump().c_str());
    return 0;
  }
  for (std::size_t i = 0; i < reached.size(); ++i)
    std::printf("after stage %zu: log JCT against the baseline %f\n", i, reached[i]);
  std::printf("%s: written\n", out.c_str());
  return 0;
}

std::string today() {
  char text[16] = "";
  const std::time_t now = std::time(nullptr);
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Trains the networks that Starling's agents run"};
  app.require_subcommand(1);
  starling::InterferenceTrainOptions options;
  std::string file = "interference.weights", data;
  bool json = false, quick = false, quiet = false;
  CLI::App* command = app.add_subcommand(
      "interference", "how much jobs slow one another that share a GPU, a link or a server");
  command->add_option("--data", data, "the published data folder; default $STARLING_DATA");
  command->add_option("--out", file, "file for the weights")->capture_default_str();
  command
      ->add_option("--set", options.set,
                   "open (gavel, deepshare, synergy), lucid, or profile: --data is a table")
      ->capture_default_str();
  command->add_option("--folds", options.folds, "of the cross-validation")->capture_default_str();
  command->add_option("--members", options.members, "networks of the ensemble")
      ->capture_default_str();
  command->add_option("--seed", options.seed, "same seed, same weights")->capture_default_str();
  command->add_flag("--no-check", quick, "no cross-validation: intervals are then a guess");
  command->add_flag("--json", json, "print only JSON to stdout");
  command->add_flag("-q,--quiet", quiet, "no progress on stderr");
  PolicyTraining learned;
  CLI::App* placement = app.add_subcommand("policy", "where jobs go, and when they wait");
  placement->add_option("--config", learned.config, "stages and suite: a YAML file")->required();
  placement->add_option("--data", data, "the published data folder; default $STARLING_DATA");
  placement->add_option("--out", learned.out, "file for the weights; default POLICY.weights");
  placement->add_option("--folder", learned.folder, "checkpoints and log")->capture_default_str();
  placement->add_option("--threads", learned.threads, "runs at once")->capture_default_str();
  placement->add_flag("--resume", learned.resume, "go on from the last checkpoint");
  placement->add_flag("--json", learned.json, "print only JSON to stdout");
  placement->add_flag("-q,--quiet", learned.quiet, "no progress on stderr");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  if (const char* set = std::getenv("STARLING_DATA"); data.empty() && set != nullptr) data = set;
  if (placement->parsed()) return policy(learned, data, today());
  if (data.empty()) {
    return fail({starling::Errc::invalid,
                 "--data DIR is missing: the published data folder, or $STARLING_DATA"},
                kBadUsage);
  }
  options.data = data;
  options.check = !quick;
  options.date = today();
  return interference(options, file, json, quiet);
}
