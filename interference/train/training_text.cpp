// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <nlohmann/json.hpp>

#include "interference/train/train_interference.h"

namespace starling {

std::string to_text(const InterferenceTraining& training) {
  std::string out;
  char line[200];
  for (const HeldOutError& e : training.errors) {
    std::snprintf(line, sizeof line,
                  "%-9s %-14s %-8s held out %5llu  MAE %.4f (folds +- %.4f)  rmse %.4f  in 90%% "
                  "%.3f  mean %.4f  additive %.4f\n",
                  e.source.c_str(), e.set.c_str(), e.split.c_str(),
                  static_cast<unsigned long long>(e.rows), e.mae, e.sd, e.rmse, e.coverage90,
                  e.mean, e.additive);
    out += line;
  }
  for (const HeldOutWorth& w : training.worth) {
    std::snprintf(
        line, sizeof line,
        "worth sharing (together more than %.1f), %s held out: %llu of %llu told wrongly; "
        "mean %llu, additive %llu\n",
        1 + w.gain, w.split.c_str(), static_cast<unsigned long long>(w.wrong),
        static_cast<unsigned long long>(w.pairs), static_cast<unsigned long long>(w.mean_wrong),
        static_cast<unsigned long long>(w.additive_wrong));
    out += line;
  }
  if (training.feasibility_auc > 0) {
    std::snprintf(line, sizeof line, "gavel     feasible       pairs    held out        AUC %.4f\n",
                  training.feasibility_auc);
    out += line;
  }
  return out;
}

std::string to_json(const InterferenceTraining& training) {
  nlohmann::ordered_json errors = nlohmann::ordered_json::array();
  for (const HeldOutError& e : training.errors) {
    errors.push_back({{"source", e.source},
                      {"set", e.set},
                      {"split", e.split},
                      {"rows", e.rows},
                      {"mae", e.mae},
                      {"rmse", e.rmse},
                      {"coverage90", e.coverage90},
                      {"mae_spread", e.sd},
                      {"mean_mae", e.mean},
                      {"additive_mae", e.additive}});
  }
  nlohmann::ordered_json worth = nlohmann::ordered_json::array();
  for (const HeldOutWorth& w : training.worth) {
    worth.push_back({{"split", w.split},
                     {"gain", w.gain},
                     {"pairs", w.pairs},
                     {"wrong", w.wrong},
                     {"mean_wrong", w.mean_wrong},
                     {"additive_wrong", w.additive_wrong}});
  }
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(training.weights.hash()));
  const nlohmann::ordered_json whole{{"hash", hash},
                                     {"feasibility_auc", training.feasibility_auc},
                                     {"held_out", errors},
                                     {"worth_sharing", worth}};
  return whole.dump(1) + "\n";
}

}  // namespace starling
