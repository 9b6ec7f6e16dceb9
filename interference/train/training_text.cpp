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
                  static_cast<unsigned long long>(e.rows), e.mae, e.spread, e.rmse, e.coverage90,
                  e.mean, e.additive);
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
                      {"mae_spread", e.spread},
                      {"mean_mae", e.mean},
                      {"additive_mae", e.additive}});
  }
  char hash[20];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(training.weights.hash()));
  const nlohmann::ordered_json whole{
      {"hash", hash}, {"feasibility_auc", training.feasibility_auc}, {"held_out", errors}};
  return whole.dump(1) + "\n";
}

}  // namespace starling
