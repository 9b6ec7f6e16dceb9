// starling-train: the program that links libtorch, so that no other has to.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "gnn/train/speed_trainer.h"

namespace {

constexpr int kWorkFailed = 1;
constexpr int kBadUsage = 2;

int fail(const starling::Error& error, int code) {
  std::fprintf(stderr, "starling-train: %s\n", error.message.c_str());
  return code;
}

int speed(starling::SpeedTrainingOptions options, const std::string& file, bool json) {
  options.progress = [&](std::uint32_t epoch, double loss) {
    if (epoch % 10 == 0 || epoch == options.epochs) {
      std::fprintf(stderr, "epoch %u of %u: loss %.6f\n", epoch, options.epochs, loss);
    }
  };
  const auto trained = starling::train_speed(options);
  if (!trained) return fail(trained.error(), kBadUsage);
  const starling::SpeedTraining& t = trained.value();
  if (const auto saved = starling::save_weights(file, t.weights); !saved)
    return fail(saved.error(), kWorkFailed);
  const auto hash = static_cast<unsigned long long>(t.weights.hash());
  if (json) {
    std::printf(
        "{\"train_rows\": %u, \"validation_rows\": %u, \"train_mae\": %.6f, \"validation_mae\": "
        "%.6f, "
        "\"validation_rmse\": %.6f, \"baseline_mae\": %.6f, \"hash\": \"%016llx\"}\n",
        t.train_rows, t.validation_rows, t.train_mae, t.validation_mae, t.validation_rmse,
        t.baseline_mae, hash);
  } else {
    std::printf(
        "rows %u to train, %u to validate\nmean error %.4f in training, %.4f held out (rms %.4f; "
        "always the mean: %.4f)\nweights %016llx\n",
        t.train_rows, t.validation_rows, t.train_mae, t.validation_mae, t.validation_rmse,
        t.baseline_mae, hash);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Trains the networks that Starling's agents run"};
  app.require_subcommand(1);
  starling::SpeedTrainingOptions options;
  std::string file;
  bool json = false;
  CLI::App* speed_command =
      app.add_subcommand("speed", "how fast a job runs where it is placed, beside whom");
  speed_command->add_option("--out", file, "file for the weights")->required();
  speed_command->add_option("--samples", options.samples, "questions to the analytic model")
      ->capture_default_str();
  speed_command->add_option("--seed", options.seed, "same seed, same weights")
      ->capture_default_str();
  speed_command->add_option("--epochs", options.epochs, "passes over the samples")
      ->capture_default_str();
  speed_command->add_flag("--json", json, "print only JSON to stdout");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kBadUsage;
  }
  return speed(options, file, json);
}
