// SPDX-License-Identifier: Apache-2.0
#include "interference/train/train_interference.h"

#include <algorithm>
#include <cmath>

#include "interference/learned/interference_net.h"
#include "interference/pairs/evaluate.h"
#include "interference/train/cross_validate.h"
#include "interference/train/host_fit.h"
#include "interference/train/memory_fit.h"
#include "interference/train/pair_trainer.h"
#include "workload/gavel_throughput.h"

namespace starling {
namespace {

constexpr std::uint32_t kTypeFoldMembers = 3;  // there are many such folds
constexpr std::uint32_t kTypeFoldEpochs = 500;

PairTrainOptions options_for(PairSource source, const InterferenceTrainOptions& options) {
  PairTrainOptions out;
  out.members = options.members;
  out.seed = options.seed;
  if (source == PairSource::lucid) {
    // Eight models, and profiles that say much: little of their own.
    out.width = 4;
    out.hidden = 8;
    out.prior = 0.3;
    out.unknown = 0.3;
  }
  return out;
}

/// Some tens of pairs of made-up workloads, of which no profile is known.
PairTrainOptions few_pairs(PairTrainOptions out) {
  out.width = 3;
  out.hidden = 4;
  out.prior = 0.1;
  out.own_prior = 0.1;
  return out;
}

/// Progress of one of several pieces of work that take about as long as their shares say.
class Pieces {
 public:
  explicit Pieces(const InterferenceTrainOptions& options) : options_(options) {}
  void begin(double share, std::string what) {
    begun_ += share_;
    share_ = share;
    what_ = std::move(what);
    at(0);
  }
  void at(double part) const {
    if (options_.progress) options_.progress(std::min(begun_ + part * share_, 1.0), what_);
  }

 private:
  const InterferenceTrainOptions& options_;
  double begun_ = 0, share_ = 0;
  std::string what_;
};

/// Of the means of several (sum, count), without those that have none.
double deviation(const std::vector<std::pair<double, double>>& parts) {
  std::vector<double> means;
  for (const auto& [sum, count] : parts) {
    if (count > 0) means.push_back(sum / count);
  }
  if (means.size() < 2) return 0;
  double mean = 0, square = 0;
  for (const double m : means) mean += m / static_cast<double>(means.size());
  for (const double m : means) square += (m - mean) * (m - mean);
  return std::sqrt(square / static_cast<double>(means.size() - 1));
}

/// Errors by set of what was held out, with intervals that were chosen on the other folds.
void add_errors(const PairData& data, const HeldOut& held, const std::string& split, bool known,
                std::vector<HeldOutError>& out) {
  const std::uint32_t folds =
      held.fold.empty() ? 1 : *std::max_element(held.fold.begin(), held.fold.end()) + 1;
  std::vector<PairErrors> errors(data.sets.size());
  std::vector<double> mean(data.sets.size()), additive(data.sets.size());
  std::vector<std::vector<std::pair<double, double>>> by_fold(data.sets.size());  // sum, rows
  for (auto& some : by_fold) some.resize(folds);
  for (std::uint32_t fold = 0; fold < folds; ++fold) {
    std::vector<bool> counts(data.rows.size());
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = held.fold[i] != fold;
    PairIntervals intervals;
    intervals.known = intervals.unknown = fit_intervals(data, held.guesses, counts);
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i]) continue;
      const PairRow& row = data.rows[i];
      const auto speed = static_cast<double>(row.speed);
      errors[row.set].add(speed, {as_measured(data, row.set, held.guesses[i].mean),
                                  intervals.half(held.guesses[i], row.set, known)});
      mean[row.set] += std::abs(held.mean[i] - speed);
      additive[row.set] += std::abs(held.additive[i] - speed);
      by_fold[row.set][fold].first +=
          std::abs(as_measured(data, row.set, held.guesses[i].mean) - speed);
      by_fold[row.set][fold].second += 1;
    }
  }
  for (std::size_t s = 0; s < errors.size(); ++s) {
    PairErrors& e = errors[s];
    const double rows = std::max(1.0, static_cast<double>(e.rows));
    e.close();
    out.push_back({to_string(data.source), data.sets[s], split, e.rows, e.mae, e.rmse, e.coverage90,
                   mean[s] / rows, additive[s] / rows, deviation(by_fold[s])});
  }
}

void add_worth(const PairData& data, const HeldOut& held, const std::string& split,
               std::vector<HeldOutWorth>& out) {
  std::vector<double> ours;
  for (std::size_t i = 0; i < data.rows.size(); ++i)
    ours.push_back(as_measured(data, data.rows[i].set, held.guesses[i].mean));
  const auto network = worth_sharing(data, ours), mean = worth_sharing(data, held.mean),
             additive = worth_sharing(data, held.additive);
  for (std::size_t i = 0; i < network.size(); ++i) {
    out.push_back({split, network[i].gain, network[i].pairs, network[i].wrong, mean[i].wrong,
                   additive[i].wrong});
  }
}

/// One relation: cross-validation, intervals, and the network of all rows.
void train_part(const PairData& data, const std::string& prefix, FoldKind unseen, double share,
                const InterferenceTrainOptions& options, Pieces& pieces,
                InterferenceTraining& out) {
  const std::string source = to_string(data.source);
  PairTrainOptions chosen = options_for(data.source, options);
  if (options.set == "profile") chosen = few_pairs(chosen);
  PairIntervals intervals;
  const std::vector<bool> all(data.rows.size(), true);
  if (options.check) {
    const auto step = [&](std::uint32_t done, std::uint32_t of) {
      pieces.at(static_cast<double>(done) / of);
    };
    pieces.begin(0.45 * share, source + ": pairs held out");
    const HeldOut pairs = cross_validate(data, FoldKind::pairs, options.folds, chosen, step);
    add_errors(data, pairs, "pairs", true, out.errors);
    const bool gpus = data.source != PairSource::deepshare;
    if (gpus) add_worth(data, pairs, "pairs", out.worth);
    intervals.known = fit_intervals(data, pairs.guesses, all);
    pieces.begin(0.45 * share, source + ": what was never seen held out");
    PairTrainOptions quick = chosen;
    quick.members = std::min(quick.members, kTypeFoldMembers);
    quick.epochs = std::min(quick.epochs, kTypeFoldEpochs);
    const HeldOut types = cross_validate(data, unseen, options.folds, quick, step);
    const std::string split = unseen == FoldKind::types ? "job type" : "model";
    add_errors(data, types, split, false, out.errors);
    if (gpus) add_worth(data, types, split, out.worth);
    intervals.unknown = fit_intervals(data, types.guesses, all);
  } else {
    intervals.known.resize(data.sets.size());
    intervals.unknown.resize(data.sets.size());
  }
  pieces.begin(0.1 * share, source + ": all rows");
  train_pairs(data, {}, chosen, prefix, out.weights, [&](std::uint32_t epoch, double) {
    pieces.at(static_cast<double>(epoch) / chosen.epochs);
  });
  intervals.save(prefix, out.weights);
  out.weights.notes[prefix + "data"] =
      source + ": " + std::to_string(data.rows.size()) + " speeds of " +
      std::to_string(data.pairs) + " pairs in " + std::to_string(data.sets.size()) +
      " sets, all of the shared part; " + std::to_string(data.left_out) + " left out";
}

/// Synergy's names of the catalogue's models; its own, made-up ones are none of them.
const char* catalogue_name(const std::string& model) {
  constexpr std::pair<const char*, const char*> kNames[] = {{"alexnet", "alexnet"},
                                                            {"bert", "bert-base"},
                                                            {"deepspeech", "deepspeech2"},
                                                            {"gnmt", "gnmt"},
                                                            {"lstm", "lstm-lm"},
                                                            {"mobilenet", "mobilenet-v2"},
                                                            {"res18", "resnet18"},
                                                            {"res50", "resnet50"},
                                                            {"shufflenet", "shufflenet-v2"},
                                                            {"transformer", "transformer"}};
  for (const auto& [theirs, ours] : kNames) {
    if (model == theirs) return ours;
  }
  return nullptr;
}

void save_host(const HostFit& fit, Weights& weights) {
  std::vector<const HostSensitivity*> rows;
  std::string names;
  for (const HostSensitivity& model : fit.models) {
    const char* name = catalogue_name(model.model);
    if (name == nullptr) continue;
    names += std::string(name) + "\n";
    rows.push_back(&model);
  }
  rows.push_back(&fit.other);
  Tensor figures{{static_cast<std::uint32_t>(rows.size()), 4}, {}};
  for (const HostSensitivity* row : rows) {
    for (const double value : {row->cpus, row->cpu_slope, row->memory_gb, row->memory_slope})
      figures.values.push_back(static_cast<float>(value));
  }
  weights.tensors["host.figures"] = std::move(figures);
  weights.notes["host.models"] = names;
}

void save_memory(const PairData& data, const MemoryFit& fit, Weights& weights) {
  Tensor gib{{static_cast<std::uint32_t>(gavel_job_types().size())}, {}};
  for (const GavelJobType& type : gavel_job_types()) {
    // A type without a pair has the catalogue's.
    double value = model_profile(type.job_model()).memory_gib;
    for (std::size_t t = 0; t < data.types.size(); ++t) {
      if (data.types[t].name == type.job_model()) value = fit.memory_gib[t];
    }
    gib.values.push_back(static_cast<float>(value));
  }
  weights.tensors["memory.gib"] = std::move(gib);
  weights.tensors["memory.logistic"] = {
      {2}, {static_cast<float>(fit.steepness), static_cast<float>(fit.margin)}};
}

Status train_open(const InterferenceTrainOptions& options, Pieces& pieces,
                  InterferenceTraining& out) {
  const auto gavel = read_pairs(options.data / "gavel" / "colocated.csv");
  if (!gavel) return gavel.error();
  auto deepshare = read_pairs(options.data / "deepshare" / "network_contention.csv");
  if (!deepshare) return deepshare.error();
  if (auto profiles = read_profiles(options.data / "deepshare" / "isolated.csv", deepshare.value());
      !profiles)
    return profiles.error();
  const auto host = fit_host(options.data / "synergy" / "cpu_mem_sensitivity.csv", options.seed);
  if (!host) return host.error();
  save_host(host.value(), out.weights);
  out.errors.push_back({"synergy", "all", "rows", host.value().rows, host.value().mae, 0, 0,
                        host.value().mean_mae, 0, 0});
  train_part(gavel.value(), "gpu.", FoldKind::types, 0.6, options, pieces, out);
  train_part(deepshare.value(), "link.", FoldKind::types, 0.3, options, pieces, out);
  pieces.begin(0.1, "gavel: which pairs fit");
  if (options.check) out.feasibility_auc = held_out_auc(gavel.value(), options.folds, options.seed);
  save_memory(gavel.value(), fit_memory(gavel.value(), {}), out.weights);
  return done();
}

Status train_lucid(const InterferenceTrainOptions& options, Pieces& pieces,
                   InterferenceTraining& out) {
  auto lucid = read_pairs(options.data / "lucid" / "colocate.csv");
  if (!lucid) return lucid.error();
  if (auto profiles = read_profiles(options.data / "lucid" / "single.csv", lucid.value());
      !profiles)
    return profiles.error();
  train_part(lucid.value(), "lucid.", FoldKind::models, 1, options, pieces, out);
  return done();
}

Status train_profile(const InterferenceTrainOptions& options, Pieces& pieces,
                     InterferenceTraining& out) {
  const auto pairs = read_pairs(options.data);
  if (!pairs) return pairs.error();
  if (pairs.value().source != PairSource::gavel)
    return {Errc::invalid, options.data.string() + ": not a table of 'starling profile'"};
  train_part(pairs.value(), "gpu.", FoldKind::types, 1, options, pieces, out);
  return done();
}

}  // namespace

Result<InterferenceTraining> train_interference(const InterferenceTrainOptions& options) {
  const auto invalid = [](const std::string& what) { return Error{Errc::invalid, what}; };
  if (options.set != "open" && options.set != "lucid" && options.set != "profile")
    return invalid("--set: '" + options.set + "' is wrong; give open, lucid or profile");
  if (options.folds < 2 || options.folds > 20)
    return invalid("--folds: " + std::to_string(options.folds) + " is wrong; give 2 to 20");
  if (options.members < 2 || options.members > 16)
    return invalid("--members: " + std::to_string(options.members) + " is wrong; give 2 to 16");
  InterferenceTraining out;
  Pieces pieces(options);
  const Status trained = options.set == "open"    ? train_open(options, pieces, out)
                         : options.set == "lucid" ? train_lucid(options, pieces, out)
                                                  : train_profile(options, pieces, out);
  if (!trained) return trained.error();
  auto& notes = out.weights.notes;
  notes["interference"] = InterferenceNet::kVersion;
  notes["network"] = "relative speed of jobs that share a GPU, a link or a server";
  notes["seed"] = std::to_string(options.seed);
  notes["command"] = "starling train interference --set " + options.set + " --folds " +
                     std::to_string(options.folds) + " --members " +
                     std::to_string(options.members) + " --seed " + std::to_string(options.seed);
  notes["date"] = options.date;
  notes["split"] = std::to_string(options.folds) +
                   "-fold over pairs, both directions together; then one type (lucid: model) at a "
                   "time; the weights are of all rows";
  if (options.set == "lucid")
    notes["licence"] = "fitted to data under S-Lab License 1.0: non-commercial, do not pass on";
  notes["errors"] = to_text(out);
  if (const auto bytes = weights_bytes(out.weights); !bytes)
    return Error{Errc::invalid, "the training diverged: " + bytes.error().message};
  return out;
}

}  // namespace starling
